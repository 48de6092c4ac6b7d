"""The resume rules: what must happen to an open call, as one pure function of record and time.

``decide()`` serves a fresh call and the hundredth takeover alike. Its input is what the record shows
(``CallFacts``), its output one ``Move`` with the boundary row whose rule it applies. It never looks at
the world: a look-up's answer comes back as facts (``after_look_up``, ``after_read_back``).

Rejected: asking how certain the death was. A readable call is looked up no sooner than the latest
deadline of any attempt + lag, since a request that was accepted may still take effect (E03).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from tasks_app.status import CallState, EffectClass, Status

LOOK_UPS = 6  # look-ups that could not tell before a person is asked
READ_BACKS = 12  # read-backs that could not tell before a person is asked
POLLS = 12  # polls in a row that had no answer before a person is asked: about seven minutes


class Do(StrEnum):
    """The kinds of move."""

    SEND = "send"  # commit an attempt, then act
    LOOK_UP = "look up"  # find(key): no effect
    READ_BACK = "read back"  # verify: no effect
    POLL = "poll"  # long work: ask how it stands
    WAIT = "wait"  # until a time, holding no worker
    PARK = "park"  # for a person, holding no worker
    ADOPT = "adopt"  # the effect is there: it is this call's outcome
    REFUSE = "refuse"  # no effect for certain: the agent decides afresh
    DOUBT = "doubt"  # a person settles it
    VERIFY = "verify"  # the effect was read back and is as intended
    VOID = "void"  # only intended, and its contract is gone: withdrawn
    WITHDRAW = "withdraw"  # no effect, and its task is cancelled, or its agent outside never began it: it will not run


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFacts:
    """What the record shows of an open call, and what its contract promises (seconds).

    ``effect_class`` is the weaker of the recorded and the current one. ``carried``: a live worker carries the
    call's contract version. ``deadline``: the latest of any attempt. ``last_try_at``: when it was last looked at.
    """

    state: CallState
    effect_class: EffectClass
    status: Status
    attempts: int = 0
    most_attempts: int = 5
    first_attempt_at: datetime | None = None
    deadline: datetime | None = None
    timeout: float = 10.0
    lag: float = 1.0
    retention: float = 86_400.0
    has_find: bool = False
    has_read_back: bool = False
    look_ups: int = 0
    next_look_at: datetime | None = None
    maybe_applied: bool = False
    look_first: bool = False
    carried: bool = True
    stopped: bool = False
    external: bool = False  # its agent executes it: no worker ever sends it
    use_by: datetime | None = None  # until when its agent may begin it, where nobody was asked

    @property
    def may_send(self) -> bool:
        """Whether an attempt is allowed at all: task running, no stop switch over it."""
        return self.status == Status.RUNNING and not self.stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """What to do with the call now, by which row, and why (a sentence for the timeline)."""

    do: Do
    rule: str
    reason: str
    until: datetime | None = None


def decide(call: CallFacts, now: datetime) -> Move:
    """Return the one move for an open call. ``now`` is the database's clock."""
    match call.state:
        case CallState.INTENDED:
            return _intended(call, now)
        case CallState.ASKED:
            return Move(do=Do.PARK, rule="A01", reason="A person must decide this call.")
        case CallState.APPROVED:
            return _send(call, rule="A03", reason="Approved and not used yet: an approved call is due work.")
        case CallState.IN_DOUBT:
            return Move(do=Do.PARK, rule="E03", reason="A person must record what happened.")
        case CallState.STARTED:
            return _started(call, now)
        case CallState.OK:
            return _ok(call, now)
        case CallState.ATTEMPTED | CallState.UNKNOWN:
            return _attempted(call, now)
    raise ValueError(f"{call.state} is not an open state")


def _intended(call: CallFacts, now: datetime) -> Move:
    if not call.carried:
        return Move(do=Do.VOID, rule="D03", reason="The contract version it was intended under is gone.")
    if call.external and call.use_by is not None:
        if now < call.use_by:
            return Move(do=Do.WAIT, rule="D03", reason="Its agent outside may still begin it.", until=call.use_by)
        return Move(do=Do.WITHDRAW, rule="D03", reason="Its agent outside did not begin it in time.")
    return _send(call, rule="D03", reason="Intended, nothing attempted: recorded arguments and key.")


def _send(call: CallFacts, *, rule: str, reason: str) -> Move:
    if not call.carried:
        return Move(do=Do.VOID, rule=rule, reason="The contract version it was intended under is gone.")
    if call.external:
        return Move(do=Do.PARK, rule=rule, reason="Its agent runs outside and executes it: no worker sends it.")
    if not call.may_send:
        return Move(do=Do.PARK, rule=rule, reason="No attempt is made while the task is paused or stopped.")
    return Move(do=Do.SEND, rule=rule, reason=reason)


def _started(call: CallFacts, now: datetime) -> Move:
    if not call.carried:
        return _gone(call)
    if call.next_look_at and now < call.next_look_at:
        return Move(do=Do.WAIT, rule="E03", reason="Long work runs outside.", until=call.next_look_at)
    return Move(do=Do.POLL, rule="E03", reason="Long work runs outside: ask how it stands.")


def _ok(call: CallFacts, now: datetime) -> Move:
    if not call.has_read_back:
        return Move(do=Do.VERIFY, rule="E08", reason="Answered ok; the contract has no read-back.")
    if not call.carried:
        return _gone(call)
    if call.next_look_at and now < call.next_look_at:
        return Move(do=Do.WAIT, rule="E08", reason="The effect is not visible yet.", until=call.next_look_at)
    return Move(do=Do.READ_BACK, rule="E08", reason="Outcome stored, not verified: verify only.")


def _attempted(call: CallFacts, now: datetime) -> Move:
    rule = "E06" if call.state == CallState.UNKNOWN else "E02"
    if call.external:
        return _external(call, now, rule)
    if call.effect_class == EffectClass.NONE:
        return _without_effect(call, now, rule)
    if not call.carried:
        return _gone(call)
    match call.effect_class:
        case EffectClass.KEYED:
            return _keyed(call, now, rule)
        case EffectClass.READABLE:
            return _readable(call, now, rule)
        case EffectClass.OPAQUE:
            return Move(
                do=Do.DOUBT, rule=rule, reason="Attempted, outcome unknown, and nothing outside can be looked up."
            )


def _external(call: CallFacts, now: datetime, rule: str) -> Move:
    """Its agent may still report until the deadline + lag; afterwards nobody can tell."""
    latest = call.deadline + timedelta(seconds=call.lag) if call.deadline else now
    if call.state == CallState.ATTEMPTED and now < latest:
        return Move(do=Do.WAIT, rule=rule, reason="The agent outside may still report.", until=latest)
    said = "The agent outside cannot tell" if call.state == CallState.UNKNOWN else "The agent outside has not reported"
    return Move(do=Do.DOUBT, rule=rule, reason=f"{said} whether it took effect.")


def _without_effect(call: CallFacts, now: datetime, rule: str) -> Move:
    if call.status == Status.CANCELLING:  # nothing would ever wake it: no attempt is made, and nobody is asked
        return Move(do=Do.WITHDRAW, rule=rule, reason="The task is cancelled, and the call has no effect.")
    if call.look_first:
        return Move(do=Do.WITHDRAW, rule=rule, reason="It may not be run again, and it has no effect to look for.")
    if call.next_look_at and now < call.next_look_at:
        return Move(do=Do.WAIT, rule=rule, reason="The last try had no answer.", until=call.next_look_at)
    return _send(call, rule=rule, reason="No effect: run it again.")


def _keyed(call: CallFacts, now: datetime, rule: str) -> Move:
    if call.next_look_at and now < call.next_look_at:
        return Move(do=Do.WAIT, rule=rule, reason="The last answer was not final.", until=call.next_look_at)
    if not call.look_first and call.may_send and call.attempts < call.most_attempts and _remembered(call, now):
        return Move(do=Do.SEND, rule=rule, reason="Safe to resend: the provider acts at most once per key.")
    if call.has_find:
        return _readable(call, now, rule)
    if not call.may_send and call.status != Status.CANCELLING and _remembered(call, now):
        return Move(do=Do.PARK, rule=rule, reason="Would be sent again with the same key; paused or stopped.")
    return Move(do=Do.DOUBT, rule=rule, reason=_why_not_resent(call, now))


def _remembered(call: CallFacts, now: datetime) -> bool:
    if call.first_attempt_at is None:
        return True
    return now + timedelta(seconds=call.timeout + call.lag) < call.first_attempt_at + timedelta(seconds=call.retention)


def _why_not_resent(call: CallFacts, now: datetime) -> str:
    if not _remembered(call, now):
        return "The provider may have forgotten the key, and it has no look-up."
    if call.attempts >= call.most_attempts:
        return f"{call.attempts} attempts without a definite answer, and it has no look-up."
    if call.look_first:
        return "A resend was refused after an attempt of unknown outcome, and it has no look-up."
    return "It may not be sent again now, and it has no look-up."


def _readable(call: CallFacts, now: datetime, rule: str) -> Move:
    if _only_sending_is_left(call):
        return Move(do=Do.PARK, rule=rule, reason="There is no effect yet; nothing is sent while paused or stopped.")
    settled_at = call.deadline + timedelta(seconds=call.lag) if call.deadline else now
    wait_until = max(settled_at, call.next_look_at or settled_at)
    if now < wait_until:
        return Move(
            do=Do.WAIT,
            rule=rule,
            reason="An accepted request may still take effect; looking comes after.",
            until=wait_until,
        )
    if call.look_ups >= LOOK_UPS:
        return Move(do=Do.DOUBT, rule=rule, reason=f"{call.look_ups} look-ups could not tell.")
    return Move(do=Do.LOOK_UP, rule=rule, reason="Outcome unknown: look before anything else.")


def _only_sending_is_left(call: CallFacts) -> bool:
    """Whether a look-up has seen that no attempt acted, and the call may not be sent now: looking again tells nothing.

    A call that may never be sent again, or whose task is being cancelled, is looked up once more, to be settled.
    """
    seen = call.state == CallState.UNKNOWN and not call.maybe_applied
    return seen and not call.may_send and not call.look_first and call.status != Status.CANCELLING


def _gone(call: CallFacts) -> Move:
    return Move(do=Do.DOUBT, rule="E03", reason="Attempted, and the contract version that could check it is gone.")


def after_look_up(call: CallFacts, *, answer: str, matches: bool, now: datetime) -> Move:
    """Return the move after ``find``: answer is found, absent or cannot tell; ``matches``: our arguments."""
    if answer == "found" and matches:
        return Move(do=Do.ADOPT, rule="E04", reason="Found under our key: adopted.")
    if answer == "found":
        return Move(do=Do.DOUBT, rule="E10", reason="Found under our key with other arguments.")
    if answer == "absent":
        return _absent(call)
    if call.look_ups + 1 >= LOOK_UPS:
        return Move(do=Do.DOUBT, rule="E09", reason=f"{call.look_ups + 1} look-ups could not tell.")
    return Move(do=Do.WAIT, rule="E09", reason="The look-up could not tell; again later.", until=_later(call, now))


def _absent(call: CallFacts) -> Move:
    if call.look_first or call.status == Status.CANCELLING:
        return Move(do=Do.REFUSE, rule="E03", reason="Looked up after every deadline: there is no effect.")
    if not call.may_send:
        return Move(do=Do.PARK, rule="E03", reason="There is no effect yet; nothing is sent while paused or stopped.")
    if call.attempts >= call.most_attempts:
        return Move(do=Do.REFUSE, rule="E03", reason=f"No effect after {call.attempts} attempts.")
    return Move(do=Do.SEND, rule="E03", reason="Looked up after every deadline: absent, so it is sent.")


def after_read_back(call: CallFacts, *, matches: bool, cannot_tell: bool, now: datetime) -> Move:
    """Return the move after ``verify`` read the world (E08, E10)."""
    if cannot_tell:
        if call.look_ups + 1 >= READ_BACKS:
            return Move(do=Do.DOUBT, rule="E09", reason=f"{call.look_ups + 1} read-backs could not tell.")
        return Move(
            do=Do.WAIT, rule="E09", reason="The read-back could not tell; again later.", until=_later(call, now)
        )
    if matches:
        return Move(do=Do.VERIFY, rule="E08", reason="Read back: as intended.")
    return Move(do=Do.DOUBT, rule="E10", reason="The world contradicts the answer.")


def after_failed_poll(call: CallFacts, *, now: datetime) -> Move:
    """Return the move after a ``poll`` that had no answer (E09). One that has an answer begins the count anew."""
    if call.look_ups + 1 >= POLLS:
        return Move(do=Do.DOUBT, rule="E09", reason=f"{call.look_ups + 1} polls in a row had no answer.")
    until = now + timedelta(seconds=min(2.0 * 2**call.look_ups, 60.0))
    return Move(do=Do.WAIT, rule="E09", reason="The poll had no answer; again later.", until=until)


def _later(call: CallFacts, now: datetime) -> datetime:
    return now + timedelta(seconds=min(0.5 * 2**call.look_ups, 30.0))


def after_refusal(*, maybe_applied: bool) -> Move:
    """Return the move after a definite refusal: refused only if no earlier attempt may have acted."""
    if maybe_applied:
        return Move(do=Do.WAIT, rule="E06", reason="Refused, but an earlier attempt may have acted: look it up.")
    return Move(do=Do.REFUSE, rule="E06", reason="Definitely refused: no effect.")
