"""What the agent reads: calls by name, transcript, waits, children; all from the record, when asked for."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from tasks_app.models import Call, Event, Task
from tasks_app.runtime.origin import origin_call, origin_of
from tasks_app.runtime.recorded import data_whole, event_data
from tasks_app.runtime.session import Session
from tasks_app.status import EFFECT_HOLDS, OPEN, CallState
from tasks_app.view import CallView, TranscriptEntry

_REFUSALS = {
    CallState.REFUSED,
    CallState.DENIED,
    CallState.EXPIRED,
    CallState.LAPSED,
    CallState.VOIDED,
    CallState.WITHDRAWN,
    CallState.NOT_HAPPENED,
}
MOST_NAMES = 2000


class Calls:
    """``view.calls``: looked up in the ``call`` table by name, remembered within the slice."""

    def __init__(self, session: Session) -> None:
        self._task, self._session = session.task, session
        self._known: dict[str, CallView | None] = {}
        self._names: set[str] | None = None  # all names in use, where they are few; None: ask for each
        self._as_of = -1

    @property
    def _copied(self) -> Mapping[str, Any]:
        """The calls that a copy reads of its original."""
        copied: Mapping[str, Any] = origin_of(self._task).get("calls", {})
        return copied

    def is_new(self, name: str) -> bool:
        """Whether no call of the task has that name, mostly without a query: only this slice adds calls."""
        if self._as_of != self._session.refreshes:
            found = Call.objects.filter(task=self._task).values_list("name", flat=True)[: MOST_NAMES + 1]
            self._names = {*found, *self._copied} if len(found) <= MOST_NAMES else None
            self._as_of = self._session.refreshes
        if self._names is None:
            return name not in self._copied and not Call.objects.filter(task=self._task, name=name).exists()
        return name not in self._names and name not in self._session.added

    def forget(self) -> None:
        """Read again: calls have been settled since."""
        self._known.clear()

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None

    def __getitem__(self, name: str) -> CallView:
        found = self.get(name)
        if found is None:
            raise KeyError(name)
        return found

    def get(self, name: str) -> CallView | None:
        """Return the call of that name (an edited one resolves to its replacement), or None."""
        if self.is_new(name):
            return None
        if name not in self._known:
            first = row = Call.objects.filter(task=self._task, name=name).first()
            while row is not None and row.replaced_by:
                row = Call.objects.get(task=self._task, name=row.replaced_by)
            view = call_view(row, self._session.unwritten.get(row.name)) if row else origin_call(self._task, name)
            if first is not None and view is not None and first != row:
                view = replace(view, instead_of=_withdrawn(first))
            self._known[name] = view
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        yield from self._copied
        yield from Call.objects.filter(task=self._task).order_by("id").values_list("name", flat=True)

    def __len__(self) -> int:
        return len(self._copied) + Call.objects.filter(task=self._task).count()


def call_view(row: Call, unwritten: Mapping[str, Any] | None = None) -> CallView:
    """Build a call's view from its row and its two events; ``unwritten``: what still rides in this slice."""
    riding = unwritten or {}
    intended = event_data(row.task_id, row.intended_seq)
    answer = riding.get("answer") or (event_data(row.task_id, row.answer_seq) if row.answer_seq else {})
    state = CallState(riding.get("state", row.state))
    return CallView(
        name=row.name,
        tool=row.tool,
        state=state,
        arguments=intended["arguments"],
        answer=answer.get("result"),
        reference=riding.get("reference") or row.reference,
        refusal=_refusal(state, row, answer) if state in _REFUSALS else None,
        ok=state in EFFECT_HOLDS,
        unverified=state == CallState.UNKNOWN_SETTLED,
        interrupted=state == CallState.UNKNOWN_SETTLED,
    )


def _withdrawn(row: Call) -> dict[str, Any] | None:
    """Return what the agent had asked for where a person changed it: its own version was withdrawn, and why."""
    said = event_data(row.task_id, row.settled_seq) if row.settled_seq else {}
    if "replaced_by" not in said:
        return None
    arguments = event_data(row.task_id, row.intended_seq)["arguments"]
    return {"name": row.name, "arguments": arguments, "reason": said.get("reason", "")}


def _refusal(state: CallState, row: Call, answer: dict[str, Any]) -> dict[str, Any]:
    settled = event_data(row.task_id, row.settled_seq) if row.settled_seq else {}
    reason = settled.get("reason") or (answer.get("error") or {}).get("reason") or state.value.replace("_", " ")
    return {
        **(answer.get("error") or {}),
        "code": (answer.get("error") or {}).get("code", state.value),
        "reason": reason,
    }


def transcript(task: Task, *, until: int | None = None) -> list[TranscriptEntry]:
    """Return every step with its calls, each followed by exactly one answer, in call order (case-06)."""
    rows = Event.objects.filter(stream=task.pk, kind="step.decided")
    if until is not None:
        rows = rows.filter(seq__lte=until)
    by_step: dict[int, list[Call]] = {}
    for row in Call.objects.filter(task=task).exclude(state__in=OPEN).order_by("step", "ordinal"):
        by_step.setdefault(row.step, []).append(row)
    entries = _transcript_of_origin(task)
    for data in rows.order_by("seq").values_list("data", flat=True):
        whole = data_whole(task.pk, data)
        entries.append(
            TranscriptEntry(
                step=whole["step"],
                does=whole["does"],
                note=whole.get("note", ""),
                model_answer=whole.get("answer"),
                calls=tuple(call_view(row) for row in by_step.get(whole["step"], [])),
                refused=tuple(whole.get("refused") or ()),
            )
        )
    return entries


def _transcript_of_origin(task: Task) -> list[TranscriptEntry]:
    """Return the steps that a copy did not take itself; none where the original is no longer kept."""
    origin = origin_of(task)
    source = Task.objects.filter(pk=origin["task"]).first() if origin else None
    return transcript(source, until=origin["seq"]) if source else []


class Ended:
    """``view.waits`` and ``view.children``: ended waits and settled children by name, read when asked for."""

    def __init__(self, task: Task, kind: str, *, until: int | None = None) -> None:
        self._task, self._kind, self._until = task, kind, until
        self._known: dict[str, Any] | None = None

    def forget(self) -> None:
        """Read again."""
        self._known = None

    def _all(self) -> dict[str, Any]:
        if self._known is None:
            rows = Event.objects.filter(stream=self._task.pk, kind=self._kind).order_by("seq")
            if self._until is not None:
                rows = rows.filter(seq__lte=self._until)
            kept = origin_of(self._task).get("children" if self._kind == "child.settled" else "waits", {})
            self._known = {
                **kept,
                **{
                    d["name"]: (d if self._kind == "child.settled" else d.get("value", d.get("why")))
                    for d in (data_whole(self._task.pk, data) for data in rows.values_list("data", flat=True))
                    if d.get("name")
                },
            }
        return self._known

    def __contains__(self, name: object) -> bool:
        return name in self._all()

    def __getitem__(self, name: str) -> Any:
        return self._all()[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value, or the default."""
        return self._all().get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def items(self) -> Iterable[tuple[str, Any]]:
        """Return names with their values."""
        return self._all().items()
