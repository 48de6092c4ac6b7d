"""What an agent is called with: the record so far, read lazily."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID

from tasks_app.status import CallState


@dataclass(frozen=True, slots=True, kw_only=True)
class CallView:
    """One settled call, as the agent sees it.

    ``ok``: the effect is there (verified, answered, or settled as happened). ``answer`` is the stored result.
    ``refusal`` says why it did not run (refused, denied, expired, lapsed, voided, withdrawn, not happened).
    ``instead_of``: what the agent had asked for under this name where a person changed it before approving: name,
    arguments, reason. ``unverified``: a person answered "unknown, go on": nobody knows whether it happened.
    """

    name: str
    tool: str
    state: CallState
    arguments: Mapping[str, Any]
    answer: Any = None
    reference: str = ""
    refusal: Mapping[str, Any] | None = None
    ok: bool = False
    unverified: bool = False
    interrupted: bool = False
    instead_of: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptEntry:
    """One step of the transcript: the decision, and each call followed by exactly one answer, in call order."""

    step: int
    does: str
    note: str
    model_answer: Any
    calls: tuple[CallView, ...]
    refused: tuple[Mapping[str, Any], ...]


class CallMap(Protocol):
    """``view.calls``: settled calls by name, read from the ``call`` table when asked for."""

    def __contains__(self, name: object) -> bool: ...
    def __getitem__(self, name: str) -> CallView: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def get(self, name: str) -> CallView | None:
        """Return the call, or None."""
        ...


class Asker(Protocol):
    """Asks a model through the record (``view.ask``)."""

    def __call__(
        self,
        question: Any,
        *,
        model: str,
        ask: Any,
        largest_cost: int,
        instructions: str = "",
        context: Sequence[Mapping[str, Any]] | None = None,
    ) -> Any:
        """Commit ``context.selected`` with its reservation of ``largest_cost`` tokens, then call ``ask(question)``.

        ``context``: all that the model is shown, as parts with ``role`` and ``content``, where that is more than the
        question; what has not changed since the last question is not kept again.
        """
        ...


@dataclass(slots=True, kw_only=True)
class TaskView:
    """The record so far, for the agent's next decision.

    ``waits``: name -> value of each ended wait (a signal's payload, "due", "timeout").
    ``children``: name -> {child, status, summary} of each settled child.
    ``refused``: why the previous decision could not be carried out, empty when it was.
    """

    task: UUID
    agent: str
    version: int
    intent: Mapping[str, Any]
    title: str
    labels: Mapping[str, Any]
    state: Any
    step: int
    calls: CallMap
    waits: Mapping[str, Any]
    children: Mapping[str, Mapping[str, Any]]
    budget_left: Mapping[str, float]
    refused: tuple[Mapping[str, Any], ...] = ()
    ask: Asker = field(repr=False)
    transcript: Any = field(repr=False)  # () -> list[TranscriptEntry]
    progress: Any = field(repr=False)  # (text) -> None: sent live, not recorded
