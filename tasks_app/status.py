"""The states of a task and of a call. Pure: no Django, so that reducer and resume rules can use it."""

from enum import StrEnum


class Status(StrEnum):
    """Where a task is. The comment names what may follow."""

    QUEUED = "queued"  # -> running, paused, cancelling/cancelled
    RUNNING = "running"  # -> any other; never without a lease (a CHECK refuses it)
    WAITING = "waiting"  # for what: WaitKind -> running, paused, cancelling/cancelled
    IN_DOUBT = "in_doubt"  # a person settles a call -> queued, cancelling
    PAUSED = "paused"  # -> queued, cancelling/cancelled
    CANCELLING = "cancelling"  # until no attempt is open -> cancelled
    QUARANTINED = "quarantined"  # stopped after lost workers; an operator releases -> queued, cancelled
    UNVERIFIED = "unverified"  # says done, check failed -> queued (check again), cancelled
    COMPLETED = "completed"  # terminal
    FAILED = "failed"  # terminal
    CANCELLED = "cancelled"  # terminal


TERMINAL = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED})


EXTERNAL_VERSION = 0  # of an agent that runs outside of Handrail and executes its calls itself


class WaitKind(StrEnum):
    """What a waiting task waits for."""

    APPROVAL = "approval"
    TIMER = "timer"
    SIGNAL = "signal"
    CHILD = "child"
    LIMIT = "limit"
    WORKER_VERSION = "worker_version"
    LOOK_UP = "look_up"
    STOP = "stop"
    WORK = "work"  # long work by start / poll, between two polls
    OUTSIDE = "outside"  # the agent runs outside of Handrail: it acts next


class CallState(StrEnum):
    """Where a call is. Open until settled (record: "No decision is asked while a call is open")."""

    INTENDED = "intended"  # open: nothing attempted yet
    ASKED = "asked"  # open: waits for a person
    APPROVED = "approved"  # open: a person said yes, not used yet
    ATTEMPTED = "attempted"  # open: we began to act, no outcome recorded
    STARTED = "started"  # open: long work runs outside, polled by its handle
    UNKNOWN = "unknown"  # open: the outcome is unknown (unknown is not failed)
    OK = "ok"  # open: the tool answered ok, not read back yet
    IN_DOUBT = "in_doubt"  # open: a person must settle it
    ANSWERED = "answered"  # settled: ok, and the contract has no read-back
    VERIFIED = "verified"  # settled: the effect was read back and is what was intended
    REFUSED = "refused"  # settled: definitely no effect
    DENIED = "denied"  # settled: a person said no
    EXPIRED = "expired"  # settled: nobody decided in time
    LAPSED = "lapsed"  # settled: approved, but too old
    VOIDED = "voided"  # settled: its approval was voided (cancelled, tool changed)
    WITHDRAWN = "withdrawn"  # settled: replaced or will not run
    HAPPENED = "happened"  # settled by a person: it happened
    NOT_HAPPENED = "not_happened"  # settled by a person: it did not happen
    UNKNOWN_SETTLED = "unknown_settled"  # settled by a person: unknown, go on


OPEN = frozenset(
    {
        CallState.INTENDED,
        CallState.ASKED,
        CallState.APPROVED,
        CallState.ATTEMPTED,
        CallState.STARTED,
        CallState.UNKNOWN,
        CallState.OK,
        CallState.IN_DOUBT,
    }
)
# An attempt of the call may still act outside, or has acted and nobody has settled it.
ATTEMPT_OPEN = frozenset({CallState.ATTEMPTED, CallState.STARTED, CallState.UNKNOWN, CallState.OK, CallState.IN_DOUBT})
# A business key is held by a call that is open, ok, or settled as happened or unknown; others give it back.
HOLDS_BUSINESS_KEY = OPEN | {
    CallState.ANSWERED,
    CallState.VERIFIED,
    CallState.HAPPENED,
    CallState.UNKNOWN_SETTLED,
}
# What counts as "the effect is there" for completion.
EFFECT_HOLDS = frozenset({CallState.VERIFIED, CallState.ANSWERED, CallState.HAPPENED})


def answered(state: str) -> bool:
    """Whether a call has its answer, or was settled: what a further attempt of it says is told and changes nothing."""
    return state == CallState.OK or state not in OPEN


class EffectClass(StrEnum):
    """What a tool promises about its effect; ordered from the strongest promise to the weakest."""

    NONE = "none"
    KEYED = "keyed"
    READABLE = "readable"
    OPAQUE = "opaque"


_WEAKNESS = [EffectClass.NONE, EffectClass.KEYED, EffectClass.READABLE, EffectClass.OPAQUE]


def weaker(one: EffectClass, other: EffectClass) -> EffectClass:
    """Return the weaker of two classes (a recorded and a current one)."""
    return max(one, other, key=_WEAKNESS.index)
