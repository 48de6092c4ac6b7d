"""The event vocabulary: what can be said in a record. Open this file first.

Past tense, versioned, one frozen dataclass each; the docstring is the published meaning. Pure: no Django.
A field of type ``Moment`` is written as ``After(seconds)`` and resolved by the append statement, with the
database's clock, to an ISO timestamp; that is how ``send_by`` and ``deadline`` are database times.
Fields named in ``FOREIGN`` hold text from agents, tools and people: they are masked, then normalised,
before they are written. All other fields are our own words, ids and digests.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class After:
    """A moment that many seconds after the commit's own clock reading."""

    seconds: float


Moment = After | str


@dataclass(frozen=True, kw_only=True)
class Event:
    """Base of every event."""

    KIND: ClassVar[str] = ""
    FOREIGN: ClassVar[frozenset[str]] = frozenset()

    def parts(self) -> tuple[Json, dict[str, float]]:
        """Return (data, after): what is stored as it is, and the moments to resolve in the statement.

        None is left out: an absent field is the same as an unknown one.
        """
        data: Json = {}
        after: dict[str, float] = {}
        for name in _names(type(self)):
            value = getattr(self, name)
            if isinstance(value, After):
                after[name] = value.seconds
            elif value is not None:
                data[name] = value
        return data, after


_NAMES: dict[type[Event], tuple[str, ...]] = {}


def _names(kind: type[Event]) -> tuple[str, ...]:
    if kind not in _NAMES:
        _NAMES[kind] = tuple(field.name for field in fields(kind))
    return _NAMES[kind]


# --- Tasks -----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class TaskCreated(Event):
    """A task exists: its intent, agent, criteria, budget and owner are fixed."""

    KIND: ClassVar[str] = "task.created"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"intent", "title", "labels"})
    workspace: str
    owner: str
    agent: str
    agent_version: int
    code_digest: str
    title: str
    intent: Json
    done_when: list[Json]
    labels: Json
    budget: Json
    parent: str | None = None
    copied_from: Json | None = None  # task, seq, step, state: the copy starts there


@dataclass(frozen=True, kw_only=True)
class TaskPaused(Event):
    """An operator paused the task; look-ups go on, no attempt is made."""

    KIND: ClassVar[str] = "task.paused"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"reason"})
    reason: str


@dataclass(frozen=True, kw_only=True)
class TaskResumed(Event):
    """An operator let the task go on: after a pause, a quarantine, or to check again.

    ``to``: paused or cancelling, where a task that was quarantined in that state returns to it.
    """

    KIND: ClassVar[str] = "task.resumed"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"reason"})
    reason: str
    after: str  # paused, quarantined, unverified
    to: str | None = None


@dataclass(frozen=True, kw_only=True)
class TaskMoved(Event):
    """An operator moved the task to another version of its agent."""

    KIND: ClassVar[str] = "task.moved"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"reason"})
    from_version: int
    to_version: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class TaskCancelRequested(Event):
    """Somebody asked to cancel: nothing further starts; open attempts are settled first."""

    KIND: ClassVar[str] = "task.cancel_requested"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"reason"})
    reason: str


@dataclass(frozen=True, kw_only=True)
class TaskCancelled(Event):
    """Terminal: cancelled, no attempt is open."""

    KIND: ClassVar[str] = "task.cancelled"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"reason"})
    reason: str


@dataclass(frozen=True, kw_only=True)
class TaskFailed(Event):
    """Terminal: the agent gave up, a budget ran out, or three decisions in a row could not be carried out."""

    KIND: ClassVar[str] = "task.failed"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"reason"})
    cause: str  # agent, budget, bad_decisions
    reason: str


@dataclass(frozen=True, kw_only=True)
class TaskQuarantined(Event):
    """Stopped after lost workers at one place; an operator releases it."""

    KIND: ClassVar[str] = "task.quarantined"
    place: str
    losses: int


@dataclass(frozen=True, kw_only=True)
class TaskClaimedComplete(Event):
    """The agent claims to be done; nothing is believed yet."""

    KIND: ClassVar[str] = "task.claimed_complete"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"summary", "claims"})
    summary: str
    claims: list[Json]


@dataclass(frozen=True, kw_only=True)
class EvidenceObserved(Event):
    """A criterion was checked against the world."""

    KIND: ClassVar[str] = "evidence.observed"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"expected", "seen", "details"})
    criterion: str
    holds: bool
    expected: Any
    seen: Any
    source: str  # done_when, intent, call, claim
    how: str  # checked, answered (no read-back), settled by NAME
    details: Json | None = None


@dataclass(frozen=True, kw_only=True)
class TaskCompleted(Event):
    """Terminal: all criteria hold."""

    KIND: ClassVar[str] = "task.completed"
    criteria: int


@dataclass(frozen=True, kw_only=True)
class TaskUnverified(Event):
    """A criterion does not hold, or there is none. Not terminal: check again, or cancel."""

    KIND: ClassVar[str] = "task.unverified"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"missing"})
    missing: list[Json]  # criterion, expected, seen


@dataclass(frozen=True, kw_only=True)
class EvidenceGone(Event):
    """A completed task was checked again, and a criterion no longer holds."""

    KIND: ClassVar[str] = "evidence.gone"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"missing"})
    missing: list[Json]


# --- Slices ----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SliceClaimed(Event):
    """A worker holds the task under a new fencing token."""

    KIND: ClassVar[str] = "slice.claimed"
    worker: str
    nonce: str
    host: str
    pid: int
    place: str
    code_digest: str = ""


@dataclass(frozen=True, kw_only=True)
class SliceReleased(Event):
    """A worker let go of the task by itself."""

    KIND: ClassVar[str] = "slice.released"
    why: str  # finished, parked, handed over, deadline, bound, fenced
    worker: str


@dataclass(frozen=True, kw_only=True)
class SliceLost(Event):
    """A worker was lost: how that was seen, and what was open."""

    KIND: ClassVar[str] = "slice.lost"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"log_tail"})
    lost_epoch: int
    worker: str
    seen: str  # process gone, lease ran out, killed at deadline
    place: str
    losses: int
    counted: bool
    exit_status: str | None = None
    log_tail: list[str] | None = None


# --- Steps and calls -------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ContextSelected(Event):
    """What a model is about to be shown; reserves the question's largest cost against the budget."""

    KIND: ClassVar[str] = "context.selected"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"added", "instructions"})
    step: int
    ask: int  # ordinal of the question within the step
    model: str
    added: list[Json]  # what changed since the previous selection
    dropped: list[str]
    reserved_tokens: int
    instructions: str | None = None


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


# --- Waits, signals, children ----------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class WaitStarted(Event):
    """The task waits: no worker and no message is held meanwhile."""

    KIND: ClassVar[str] = "wait.started"
    kind: str  # timer, signal, child, approval, limit, worker_version, look_up, stop, work, outside
    step: int
    name: str | None = None  # of the wait as the agent calls it
    on: Any = None  # signal name, child task, call names, limit
    until: Moment | None = None


@dataclass(frozen=True, kw_only=True)
class WaitEnded(Event):
    """The wait is over, and why."""

    KIND: ClassVar[str] = "wait.ended"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"value"})
    kind: str
    name: str | None = None
    why: str = ""  # due, signal, child, timeout
    value: Any = None
    signal_seq: int | None = None


@dataclass(frozen=True, kw_only=True)
class SignalReceived(Event):
    """A signal arrived; it is kept until a wait takes it."""

    KIND: ClassVar[str] = "signal.received"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"payload"})
    name: str
    payload: Any = None
    request_key: str | None = None


@dataclass(frozen=True, kw_only=True)
class ChildSpawned(Event):
    """A child task was created in the transaction that records it."""

    KIND: ClassVar[str] = "child.spawned"
    name: str
    child: str
    agent: str
    step: int


@dataclass(frozen=True, kw_only=True)
class ChildSettled(Event):
    """A child ended; appended by the parent's own slice."""

    KIND: ClassVar[str] = "child.settled"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"summary"})
    name: str
    child: str
    status: str
    summary: str | None = None


# --- Approvals (the rules are those of the approvals application) ------------------------------------


@dataclass(frozen=True, kw_only=True)
class ApprovalRequested(Event):
    """A person must decide this call."""

    KIND: ClassVar[str] = "approval.requested"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"line", "reason"})
    approval: str
    name: str
    digest: str
    group: str
    line: str  # what will happen, in one line
    policy: Json
    decide_by: Moment | None = None
    run_within: float | None = None  # seconds between decision and use
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class ApprovalAnswered(Event):
    """One person of several answered; the quorum is not reached by this alone, or ``approval.decided`` follows."""

    KIND: ClassVar[str] = "approval.answered"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"reason"})
    approval: str
    name: str
    digest: str
    answer: str  # approved, denied
    by: str
    reason: str
    via: str
    so_far: int  # answers that count, this one included
    quorum: int


@dataclass(frozen=True, kw_only=True)
class ApprovalEscalated(Event):
    """Nobody decided in time: another group is asked, with a deadline of its own."""

    KIND: ClassVar[str] = "approval.escalated"
    approval: str
    name: str
    from_group: str
    group: str
    decide_by: Moment | None = None


@dataclass(frozen=True, kw_only=True)
class ApprovalOverdue(Event):
    """Nobody decided in time, and the rule says to keep waiting; nothing is allowed by it."""

    KIND: ClassVar[str] = "approval.overdue"
    approval: str
    name: str


@dataclass(frozen=True, kw_only=True)
class ApprovalDecided(Event):
    """Decided once: approved or denied, by whom, on which digest."""

    KIND: ClassVar[str] = "approval.decided"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"reason"})
    approval: str
    name: str
    digest: str
    decision: str  # approved, denied
    by: str
    reason: str
    via: str  # page, api, command, grant
    run_by: Moment | None = None
    grant: str | None = None  # the standing grant that answered


@dataclass(frozen=True, kw_only=True)
class ApprovalExpired(Event):
    """Nobody decided in time; never allowed."""

    KIND: ClassVar[str] = "approval.expired"
    approval: str
    name: str


@dataclass(frozen=True, kw_only=True)
class ApprovalLapsed(Event):
    """Approved, but the must-run-by has passed unused."""

    KIND: ClassVar[str] = "approval.lapsed"
    approval: str
    name: str


@dataclass(frozen=True, kw_only=True)
class ApprovalConsumed(Event):
    """Used, once, in the transaction of the first attempt (T1)."""

    KIND: ClassVar[str] = "approval.consumed"
    approval: str
    name: str
    digest: str
    grant: str | None = None


@dataclass(frozen=True, kw_only=True)
class ApprovalVoided(Event):
    """No longer valid: task cancelled, tool changed, call edited, policy became stricter."""

    KIND: ClassVar[str] = "approval.voided"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"reason"})
    approval: str
    name: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class ApprovalRevoked(Event):
    """A person took an unused approval back."""

    KIND: ClassVar[str] = "approval.revoked"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"reason"})
    approval: str
    name: str
    by: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class ApprovalReopened(Event):
    """A person lets a denied call be proposed again; without it the same proposal is refused."""

    KIND: ClassVar[str] = "approval.reopened"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"reason"})
    approval: str
    name: str
    by: str
    reason: str


# --- Administration stream ----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class CredentialIssued(Event):
    """A credential was granted to one invocation for a call: once, until a moment; nothing is handed over yet."""

    KIND: ClassVar[str] = "credential.issued"
    name: str
    credential: str
    grant: str
    role: str  # the function of the contract
    attempt: int
    expires_at: str


@dataclass(frozen=True, kw_only=True)
class CredentialUsed(Event):
    """The granted credential was handed over, on a descriptor; the grant cannot be used again."""

    KIND: ClassVar[str] = "credential.used"
    name: str
    credential: str
    grant: str


@dataclass(frozen=True, kw_only=True)
class CredentialExpired(Event):
    """A grant ended unused: its time was over, or its worker died before it handed anything over."""

    KIND: ClassVar[str] = "credential.expired"
    name: str
    credential: str
    grant: str


@dataclass(frozen=True, kw_only=True)
class CredentialRevoked(Event):
    """A person revoked the credential while this grant of it was open; what held it was ended."""

    KIND: ClassVar[str] = "credential.revoked"
    name: str
    credential: str
    grant: str


@dataclass(frozen=True, kw_only=True)
class EgressConnected(Event):
    """A connection out of a sandbox, or one that was refused and why; bytes from it (sent) and to it (received)."""

    KIND: ClassVar[str] = "egress.connected"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"place", "refused"})
    name: str
    place: str
    address: str
    refused: str
    sent: int
    received: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Changed(Event):
    """Base of the administration events: the author is the actor, the difference is kept."""

    FOREIGN: ClassVar[frozenset[str]] = frozenset({"before", "after_change", "reason"})
    what: str
    before: Any = None
    after_change: Any = None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class PolicyChanged(Changed):
    """A policy rule was changed."""

    KIND: ClassVar[str] = "policy.changed"


@dataclass(frozen=True, kw_only=True)
class GrantChanged(Changed):
    """A standing grant was changed."""

    KIND: ClassVar[str] = "grant.changed"


@dataclass(frozen=True, kw_only=True)
class RoleChanged(Changed):
    """A person's role, or a token, was changed."""

    KIND: ClassVar[str] = "role.changed"


@dataclass(frozen=True, kw_only=True)
class SwitchChanged(Changed):
    """A stop switch was set or lifted."""

    KIND: ClassVar[str] = "switch.changed"


@dataclass(frozen=True, kw_only=True)
class CredentialChanged(Changed):
    """A credential was set, set anew or revoked; its value stands nowhere but sealed."""

    KIND: ClassVar[str] = "credential.changed"


@dataclass(frozen=True, kw_only=True)
class ScheduleChanged(Changed):
    """A schedule was set, changed or removed."""

    KIND: ClassVar[str] = "schedule.changed"


@dataclass(frozen=True, kw_only=True)
class ChannelChanged(Changed):
    """A way out for notifications, or what goes by it, was set, changed or removed; never its address or secret."""

    KIND: ClassVar[str] = "channel.changed"


@dataclass(frozen=True, kw_only=True)
class DrillLaunched(Event):
    """A drill was launched: by whom is the actor; what it runs, and with which seed."""

    KIND: ClassVar[str] = "drill.launched"
    run: str
    suite: str
    seed: int
    selection: Json
    slot: str | None = None  # of the schedule that launched it: the moment it is for


@dataclass(frozen=True, kw_only=True)
class DrillEnded(Event):
    """A drill is over, and what it found."""

    KIND: ClassVar[str] = "drill.ended"
    run: str
    state: str  # ended, stopped, failed
    sentence: str
    exit_code: int | None = None


@dataclass(frozen=True, kw_only=True)
class WorkerDrainAsked(Event):
    """Somebody asked a worker to hand over what it holds and to end."""

    KIND: ClassVar[str] = "worker.drain_asked"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"reason"})
    worker: str
    host: str
    pid: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class RecordPurged(Event):
    """A whole terminal task past its age was removed after export; this is what stays of it."""

    KIND: ClassVar[str] = "record.purged"
    task: str
    last_seq: int
    head_digest: str


def _subclasses(root: type[Event]) -> list[type[Event]]:
    return [leaf for child in root.__subclasses__() for leaf in [child, *_subclasses(child)]]


KINDS: dict[str, type[Event]] = {cls.KIND: cls for cls in _subclasses(Event) if cls.KIND}


def from_row(kind: str, data: Mapping[str, Any]) -> Event:
    """Rebuild an event from its stored kind and data; fields of newer versions are left aside."""
    cls = KINDS[kind]
    known = _names(cls)
    return cls(**{name: value for name, value in data.items() if name in known})
