"""What was done wrong, in one sentence: from a broken invariant back to the act that broke it. Pure.

The invariants say that something is wrong; here the record and the arrivals outside say which rule was not kept. The
causes are tried in an order in which the earlier one explains the later.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise

from chaos_app.drills.evidence import Arrival, Evidence
from chaos_app.drills.tally import Broken, Told
from tasks_app.record.reducing_calls import Fact
from tasks_app.status import CallState, EffectClass

COUNTS_NO_REQUESTS = "ledger()"  # it names effects alone
ON_THE_WAY = 1.0  # seconds that a request which left in time may need
Cause = Callable[[Evidence, Told, Sequence[Broken]], Iterator[str]]


def why_wrong(evidence: Evidence, told: Sequence[Told], broken: Sequence[Broken]) -> str:
    """Return the act behind what is broken; where none is recognised, the invariants' own first sentence."""
    for cause in CAUSES:
        for one in told:
            mine = [b for b in broken if b.role == one.record.role]
            for sentence in cause(evidence, one, mine):
                return sentence
    return broken[0].sentence if broken else ""


def why_unheld(evidence: Evidence, told: Sequence[Told]) -> str:
    """Say how a contradiction between answer and outside (E10) was passed over; "" for every other row."""
    names = [(one, name) for one in told for name in one.acting if one.case.of("call.verified", name=name)]
    if evidence.cell.row != "E10" or not names:
        return ""
    one, name = names[0]
    how = "although the outside contradicts its answer" if _looked(evidence, one, name) else "without looking outside"
    return f"{name} was called verified {how}."


def _has(broken: Sequence[Broken], *invariants: str) -> bool:
    return any(b.invariant in invariants for b in broken)


def _another_key(evidence: Evidence, told: Told, broken: Sequence[Broken]) -> Iterator[str]:
    """A retry under a new key: the outside cannot know that it is the same act."""
    keys = {f.data["name"]: f.data["key"] for f in told.case.of("call.intended")}
    for attempt in told.case.of("call.attempted"):
        name = attempt.data["name"]
        if attempt.data["key"] != keys.get(name):
            number = attempt.data["attempt"]
            yield f"Attempt {number} of {name} carried another key than was planned, so the outside took it for new."
    for arrival in _of_task(evidence, told):
        name = (arrival.call or "").partition("/")[2]
        if arrival.acts and name in keys and arrival.key and not arrival.key.startswith(keys[name]):
            yield f"A request of {name} reached the outside under another key than the record has."


def _wrote_without_lease(evidence: Evidence, told: Told, broken: Sequence[Broken]) -> Iterator[str]:
    """No token check: a worker that had lost the task went on writing."""
    if _has(broken, "S7"):
        fenced = next(b for b in broken if b.invariant == "S7")
        yield f"A worker that had lost the task was allowed to write: {fenced.sentence}"


def _sent_unrecorded(evidence: Evidence, told: Told, broken: Sequence[Broken]) -> Iterator[str]:
    """Effect without attempt: the request left before the attempt was recorded, or nobody recorded it."""
    if _has(broken, "S2"):
        ghost = next(b for b in broken if b.invariant == "S2")
        yield f"Something was sent before the attempt was in the record: {ghost.sentence}"


def _approval(evidence: Evidence, told: Told, broken: Sequence[Broken]) -> Iterator[str]:
    for b in broken:
        if b.invariant in {"S4", "S3"}:
            yield b.sentence


def _asked_twice(evidence: Evidence, told: Told, broken: Sequence[Broken]) -> Iterator[str]:
    """The same act under two names."""
    if _has(broken, "S1"):
        held: dict[str, str] = {}
        for fact in told.case.of("call.intended"):
            act, name = fact.data.get("business_key"), fact.data["name"]
            if not act:
                continue
            if act in held and told.count(name):
                yield f"The agent asked for the same act again as {name}, after {held[act]}, and it was let through."
            held.setdefault(act, name)


def _resent(evidence: Evidence, told: Told, broken: Sequence[Broken]) -> Iterator[str]:
    """An effect that happened twice although one key was used: it was sent again without knowing."""
    if not _has(broken, "S1"):
        return
    for name in told.acting:
        attempts = told.case.of("call.attempted", name=name)
        if told.count(name) <= told.case.expected(name):
            continue
        for before, after in pairwise(attempts):
            yield from _resend(evidence, told, name, before, after)
        yield from _sent_late(evidence, told, name, attempts)
        if len(attempts) == 1:
            yield f"{name} took effect more than once under one attempt: it was sent again without saying so."


def _resend(evidence: Evidence, told: Told, name: str, before: Fact, after: Fact) -> Iterator[str]:
    match told.case.state.calls[name]["effect_class"]:
        case EffectClass.KEYED:
            yield f"{name} was sent again under its key, and the outside, which should have known the key, repeated it."
        case EffectClass.OPAQUE:
            yield f"{name} cannot be looked up, and was sent again by itself instead of asking a person."
        case EffectClass.READABLE:
            looks = [f for f in told.case.of("call.observed", name=name) if before.seq < f.seq < after.seq]
            if not looks:
                yield f"{name} was sent again without looking whether it had happened."
            elif looks[-1].at.isoformat() < _utc(before.data["deadline"]):
                yield f"{name} was looked up while its request could still arrive, seen as absent, and sent again."
            else:
                yield from _sent_overdue(evidence, told, name, before)
                yield f"{name} was seen as absent and sent again; the first request arrived after that."


def _utc(moment: str) -> str:
    return datetime.fromisoformat(moment).astimezone(UTC).isoformat()


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


def _sent_overdue(evidence: Evidence, told: Told, name: str, attempt: Fact) -> Iterator[str]:
    """A request that left after the time that its attempt names: whoever looked meanwhile saw nothing, and sent."""
    number, until = attempt.data["attempt"], _seconds(attempt.data["send_by"])
    for arrival in _of_task(evidence, told):
        mine = (arrival.call or "").endswith(f"/{name}") and arrival.attempt == number
        if mine and arrival.acts and arrival.at > until + ON_THE_WAY:
            late = arrival.at - until
            yield f"Attempt {number} of {name} was sent {late:.0f} s after the time by which it had to be sent."


def _sent_late(evidence: Evidence, told: Told, name: str, attempts: Sequence[Fact]) -> Iterator[str]:
    """A worker that had lost its lease still sent."""
    for attempt in attempts:
        newer = [f for f in told.case.of("slice.claimed") if (f.epoch or 0) > (attempt.epoch or 0)]
        for arrival in _of_task(evidence, told):
            mine = (arrival.call or "").endswith(f"/{name}") and arrival.attempt == attempt.data["attempt"]
            if mine and arrival.acts and newer and arrival.at > newer[0].at.timestamp() + evidence.expected.clocks:
                yield (
                    f"The request of attempt {attempt.data['attempt']} of {name} left after another worker had taken "
                    "the task over."
                )


def _taken_for_done(evidence: Evidence, told: Told, broken: Sequence[Broken]) -> Iterator[str]:
    """Believed without looking, or by looking at another's effect."""
    if not _has(broken, "S5", "S6"):
        return
    for name in told.acting:
        call = told.case.state.calls[name]
        if call["state"] not in {CallState.VERIFIED, CallState.ANSWERED} or told.count(name) >= told.case.expected(
            name
        ):
            continue
        sibling = _sibling(evidence, told, name)
        if _answered_unsent(evidence, told, name):
            yield f"The answer of {name} was in the record before any request of it had reached the outside."
        elif sibling:
            yield f"The effect of another call ({sibling}) was taken over as that of {name}, which never happened."
        elif told.case.of("call.verified", name=name) and not _looked(evidence, told, name):
            yield f"{name} was called verified, and the outside counted no look at it."
        else:
            yield f"{name} was taken for done after the takeover, and its effect is not there."


def _answered_unsent(evidence: Evidence, told: Told, name: str) -> bool:
    """Whether who began an attempt recorded its answer before the outside, where that counts requests, had any."""
    if evidence.witness.source == COUNTS_NO_REQUESTS:
        return False
    began = {f.data["attempt"]: f.epoch for f in told.case.of("call.attempted", name=name)}
    for outcome in told.case.of("call.outcome", name=name):
        own = outcome.data["outcome"] == "ok" and began.get(outcome.data["attempt"]) == outcome.epoch
        until = outcome.at.timestamp() + evidence.expected.clocks
        sent = [a for a in _of_task(evidence, told) if a.acts and (a.call or "").endswith(f"/{name}") and a.at <= until]
        if own and not sent:
            return True
    return False


def _sibling(evidence: Evidence, told: Told, name: str) -> str:
    own = {f.data.get("reference") for f in told.case.of("call.observed", "call.verified", name=name)} - {None, ""}
    key = told.case.state.calls[name]["key"]
    for effect in evidence.witness.effects:
        if effect.reference in own and effect.key != key:
            return (effect.call or effect.key or effect.reference).partition("/")[2] or effect.reference
    return ""


def _looked(evidence: Evidence, told: Told, name: str) -> bool:
    """Whether the outside counted a look at this call's system between its first attempt and its verification."""
    attempts, verified = told.case.of("call.attempted", name=name), told.case.of("call.verified", name=name)
    if not attempts or not verified:
        return False
    since, until = attempts[0].at.timestamp(), verified[-1].at.timestamp() + evidence.expected.clocks
    return any(not a.acts and since <= a.at <= until for a in evidence.witness.arrivals)


def _of_task(evidence: Evidence, told: Told) -> list[Arrival]:
    return [a for a in evidence.witness.arrivals if (a.call or "").startswith(f"{told.record.task}/")]


def _result_missing(evidence: Evidence, told: Told, broken: Sequence[Broken]) -> Iterator[str]:
    for b in broken:
        if b.invariant in {"S6", "S8", "S9", "S10", "S11", "S12"}:
            yield b.sentence


CAUSES: tuple[Cause, ...] = (
    _another_key,
    _wrote_without_lease,
    _asked_twice,
    _resent,
    _taken_for_done,
    _sent_unrecorded,
    _approval,
    _result_missing,
)
