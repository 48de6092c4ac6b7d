"""What can be said of a step and of its tool calls, from the intent to the settled doubt."""

from dataclasses import dataclass
from typing import Any, ClassVar

from tasks_app.record.events.base import Event, Json, Moment


@dataclass(frozen=True, kw_only=True)
class ContextSelected(Event):
    """What a model is about to be shown; reserves the question's largest cost against the budget.

    ``since``: the event of the selection that this one changes; without it ``added`` is the whole. Then ``dropped`` are
    places in that selection, counted from 0, ``added`` follows what is kept, and no instructions are those as before.
    """

    KIND: ClassVar[str] = "context.selected"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"added", "instructions"})
    step: int
    ask: int  # ordinal of the question within the step
    model: str
    added: list[Json]
    dropped: list[int]
    reserved_tokens: int
    instructions: str | None = None
    since: int | None = None


@dataclass(frozen=True, kw_only=True)
class StepDecided(Event):
    """The agent decided. Present means: use it, never ask again.

    ``state`` is {"full": value} or {"patch": RFC 6902 operations on the previous state}; absent: unchanged. It is
    kept here and not with the checkpoint, since a worker that dies between the two must not lose it.
    """

    KIND: ClassVar[str] = "step.decided"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"note", "answer", "detail", "state", "refused"})
    step: int
    does: str  # call, state, wait, spawn, complete, fail
    names: list[str] | None = None
    refused: list[Json] | None = None  # code, reason, call: why it cannot be carried out
    detail: Json | None = None
    note: str | None = None
    model: str | None = None
    answer: Any = None
    usage: Json | None = None
    state: Json | None = None


@dataclass(frozen=True, kw_only=True)
class CallIntended(Event):
    """A call is fixed: name, tool, arguments, digest, key. Arguments are never altered."""

    KIND: ClassVar[str] = "call.intended"
    name: str
    step: int
    ordinal: int
    tool: str
    contract_version: int
    schema_digest: str
    effect_class: str
    arguments: Json
    digest: str
    key: str
    seen: str | None = None
    business_key: str | None = None
    resource: str | None = None
    policy: Json | None = None
    replaces: str | None = None


@dataclass(frozen=True, kw_only=True)
class CallAttempted(Event):
    """We begin to act. Committed before the first byte leaves."""

    KIND: ClassVar[str] = "call.attempted"
    name: str
    attempt: int
    key: str
    send_by: Moment
    deadline: Moment
    under_approval: str | None = None


@dataclass(frozen=True, kw_only=True)
class CallOutcome(Event):
    """What the tool answered: ok, refused (definitely no effect), or unknown."""

    KIND: ClassVar[str] = "call.outcome"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"result", "error"})
    name: str
    attempt: int
    outcome: str  # ok, refused, unknown, started (long work)
    result: Any = None
    error: Json | None = None
    reference: str | None = None
    sent: bool = True
    settles: bool | None = None  # ok, and the contract has no read-back
    handle: str | None = None  # of long work
    sandbox: Json | None = None  # its level, how it ended, what it used (ms, KiB)


@dataclass(frozen=True, kw_only=True)
class CallResumeDecided(Event):
    """After a takeover: which rule applies to an open call, what was seen, until when to wait."""

    KIND: ClassVar[str] = "call.resume_decided"
    name: str
    rule: str  # boundary row
    move: str
    effect_class: str
    reason: str
    seen: Json
    wait_until: str | None = None
    look_first: bool | None = None  # a resend was refused: from here on it is looked up, never sent unseen


@dataclass(frozen=True, kw_only=True)
class CallObserved(Event):
    """What a look-up found."""

    KIND: ClassVar[str] = "call.observed"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"found", "reason", "result"})
    name: str
    look_up: int
    answer: str  # found, absent, cannot tell
    move: str = ""  # what follows: adopt, send, refuse, wait, park, doubt
    reference: str | None = None
    found: Any = None
    result: Any = None
    reason: str | None = None
    adopted: bool = False


@dataclass(frozen=True, kw_only=True)
class CallVerified(Event):
    """The effect was read back and is what was intended."""

    KIND: ClassVar[str] = "call.verified"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"seen"})
    name: str
    seen: Any = None
    reference: str | None = None


@dataclass(frozen=True, kw_only=True)
class CallLateReceipt(Event):
    """An answer that arrived after its worker had lost the task; it may close a doubt, nothing else."""

    KIND: ClassVar[str] = "call.late_receipt"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"result", "error"})
    name: str
    attempt: int
    held_epoch: int
    outcome: str
    result: Any = None
    error: Json | None = None
    reference: str | None = None
    closes_doubt: bool = False
    settles: bool | None = None  # it closes the doubt, and nothing is left to read back


@dataclass(frozen=True, kw_only=True)
class CallInDoubt(Event):
    """Nobody can tell by machine: a person settles it."""

    KIND: ClassVar[str] = "call.in_doubt"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"difference"})
    name: str
    rule: str
    reason: str
    check: str  # how to look outside, in words
    not_before: Moment | None = None  # last deadline + lag: a late arrival is possible until then
    difference: Json | None = None


@dataclass(frozen=True, kw_only=True)
class CallSettled(Event):
    """A person said what happened, with evidence."""

    KIND: ClassVar[str] = "call.settled"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"evidence", "reference"})
    name: str
    answer: str  # happened, not_happened, unknown, run_again
    by: str
    evidence: str
    reference: str | None = None


@dataclass(frozen=True, kw_only=True)
class CallWithdrawn(Event):
    """The call will not run: replaced by which, or why."""

    KIND: ClassVar[str] = "call.withdrawn"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"reason"})
    name: str
    reason: str
    replaced_by: str | None = None


@dataclass(frozen=True, kw_only=True)
class CallRepeatAllowed(Event):
    """A person lets the act of this settled call be done once more: its business key is free for another call."""

    KIND: ClassVar[str] = "call.repeat_allowed"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"reason"})
    name: str
    business_key: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class CheckpointAdvanced(Event):
    """The place from which the next worker continues: all calls up to this step are settled."""

    KIND: ClassVar[str] = "checkpoint.advanced"
    step: int
