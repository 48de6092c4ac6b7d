"""Why a worker change is safe, in plain words: where the lost worker stood, what that left open, what the next one did.

Pure: events in, a sentence out. The events are those since the last checkpoint before the loss: every call that was
settled earlier cannot matter. The outside is not asked; whoever has a count of it adds what it says.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tasks_app.timeline.parts import Line, Part, line, name

CAUSE_KINDS = (
    "slice.claimed",
    "slice.lost",
    "context.selected",
    "step.decided",
    "wait.started",
    "wait.ended",
    "task.claimed_complete",
    "evidence.observed",
    "checkpoint.advanced",
    "call.intended",
    "call.attempted",
    "call.outcome",
    "call.resume_decided",
    "call.observed",
    "call.verified",
    "call.in_doubt",
    "call.settled",
    "call.withdrawn",
    "call.late_receipt",
    "approval.requested",
    "approval.decided",
    "approval.consumed",
    "approval.expired",
    "approval.lapsed",
    "approval.voided",
    "approval.revoked",
    "task.completed",
    "task.failed",
    "task.cancelled",
)


class Fact(Protocol):
    """What is looked at: a stored event."""

    @property
    def kind(self) -> str: ...  # noqa: D102
    @property
    def data(self) -> dict[str, Any]: ...  # noqa: D102


@dataclass(slots=True)
class Standing:
    """A call as the lost worker left it."""

    state: str
    effect_class: str = ""
    attempt: int = 0
    under_approval: bool = False


@dataclass(slots=True)
class Place:
    """Where the lost worker stood: the calls that were open, and the last thing that was recorded."""

    calls: dict[str, Standing] = field(default_factory=dict)
    step: int | None = None
    last: str = ""

    def take(self, fact: Fact) -> None:
        """Take one more event into account."""
        self.last = fact.kind
        if fact.kind in {"step.decided", "context.selected", "checkpoint.advanced"}:
            self.step = fact.data.get("step")
        if fact.kind == "checkpoint.advanced":
            self.calls.clear()
        called = str(fact.data.get("name") or "")
        if fact.kind == "call.intended":
            self.calls[called] = Standing("intended", str(fact.data.get("effect_class", "")))
        elif called in self.calls and fact.kind.startswith(("call.", "approval.")):
            self._change(self.calls, called, fact)

    def _change(self, calls: dict[str, Standing], called: str, fact: Fact) -> None:
        if fact.kind == "call.attempted":
            calls[called].attempt = int(fact.data.get("attempt", 0))
            calls[called].under_approval = bool(fact.data.get("under_approval"))
        if fact.kind == "call.outcome" and calls[called].state == "answered":
            return  # another attempt's, told after the answer
        if fact.kind == "call.observed" and calls[called].state == "started":
            return  # a poll that had no answer: it runs outside as before
        state = _state_after(fact.kind, fact.data)
        if state == "settled":
            del calls[called]
        elif state:
            calls[called].state = state


def _state_after(kind: str, data: Mapping[str, Any]) -> str:
    match kind:
        case "call.outcome":
            if data.get("settles") or (data.get("outcome") == "refused" and data.get("sent", True)):
                return "settled"
            return {"ok": "answered", "started": "started"}.get(str(data.get("outcome")), "unknown")
        case "call.observed":
            return {"adopt": "answered", "refuse": "settled"}.get(str(data.get("move")), "unknown")
        case "call.late_receipt":
            return "answered" if data.get("closes_doubt") else ""
        case "approval.decided":
            return "approved" if data.get("decision") == "approved" else "settled"
    return _STATES.get(kind, "")


_STATES = {
    "call.attempted": "attempted",
    "call.in_doubt": "in doubt",
    "call.verified": "settled",
    "call.settled": "settled",
    "call.withdrawn": "settled",
    "approval.requested": "asked",
    "approval.expired": "settled",
    "approval.lapsed": "settled",
    "approval.voided": "settled",
    "approval.revoked": "settled",
}


def place_of(facts: Iterable[Fact]) -> Place:
    """Return where a worker stood whose last recorded event is the last of these."""
    place = Place()
    for fact in facts:
        if fact.kind != "slice.lost":
            place.take(fact)
    return place


def takeover_cause(before: Sequence[Fact], after: Sequence[Fact] = ()) -> Line:
    """Return why a takeover was safe.

    ``before``: the events from the last checkpoint before the loss up to it; ``after``: those from the next claim on
    (up to the next loss). Calls are told in the order in which they were planned.
    """
    place = place_of(before)
    told: list[Part | str] = []
    if not place.calls:
        told = [_between(place)]
    for called, standing in place.calls.items():
        told += [" " if told else "", *_where(called, standing), *_did(called, standing, after)]
    return line(*told)


def _between(place: Place) -> str:
    match place.last:
        case "task.claimed_complete" | "evidence.observed":
            return "The worker was lost while the claim to be done was being checked; checking is repeated."
        case "context.selected":
            return f"The worker was lost while the model was asked for step {place.step}; the question is asked again."
        case "wait.started":
            return "The worker was lost while the task began to wait; the wait stands in the record."
        case "step.decided" | "wait.ended":
            return f"The worker was lost after step {place.step} was decided; the decision is used, not made again."
    done = f"after step {place.step} was settled" if place.step else "before anything was decided"
    return f"The worker was lost {done}, and no call was open: the next one goes on from there."


def _where(called: str, standing: Standing) -> list[Part | str]:
    which = name(called)
    match standing.state:
        case "attempted":
            used = " (its approval is used, and is not given back)" if standing.under_approval else ""
            begun = f"The worker was lost after attempt {standing.attempt} of "
            left = "" if standing.effect_class == "none" else ": the outside may hold the effect, or not."
            return [begun, which, f" was recorded and before any answer was{used}", left or "; the call has no effect."]
        case "unknown":
            return [
                "The worker was lost while the outcome of ",
                which,
                " was unknown: the outside may hold the effect, or not.",
            ]
        case "answered":
            return [
                "The worker was lost after the answer to ",
                which,
                " was recorded and before the effect was read back.",
            ]
        case "started":
            return ["The worker was lost while ", which, " ran outside; it is asked for by its handle."]
        case "asked":
            return ["The worker was lost while ", which, " waited for a person; the question stands in the record."]
        case "approved":
            return ["The worker was lost after ", which, " was approved and before the approval was used."]
        case "in doubt":
            return ["The worker was lost while a person was to say what became of ", which, "."]
    return ["The worker was lost after ", which, " was planned and before anything was sent."]


_RULES = {
    "keyed": "It is safe to resend: the same key is sent again, and the outside gives its first answer once more.",
    "readable": "It can be looked up: first the time for a late arrival is waited out, then the outside is looked at.",
    "opaque": "Nobody can tell by machine, so nothing is sent again: a person looks and records what happened.",
    "none": "It is simply run again.",
}


def _did(called: str, standing: Standing, after: Sequence[Fact]) -> list[Part | str]:
    """What the next worker did about the call; what it must do, where it has not done anything yet."""
    acts = [said for said in map(_act, _about(called, after)) if said]
    if not acts and standing.state in {"attempted", "unknown"}:
        return [" " + _RULES.get(standing.effect_class, "")]
    told = [act for at, act in enumerate(acts) if act not in acts[:at]]
    return [" The next worker " + _listed(told) + "."] if told else []


def _about(called: str, after: Sequence[Fact]) -> list[Fact]:
    found = []
    for fact in after:
        if fact.kind == "slice.lost":
            break
        if fact.data.get("name") == called:
            found.append(fact)
    return found


def _act(fact: Fact) -> str:
    match fact.kind, fact.data.get("move"):
        case "call.attempted", _:
            return "sent it under its one key"
        case "call.resume_decided", "wait":
            return "waited until no late arrival was possible"
        case "call.observed", "adopt":
            return "looked, found it and took it over as the result"
        case "call.observed", "send":
            return "looked and saw for certain that it was not there"
        case "call.observed", "refuse":
            return "looked, saw that it was not there, and recorded that there is no effect"
        case "call.observed", _:
            return "looked and could not tell yet"
        case "call.verified", _:
            return "read it back as it was intended"
        case "call.in_doubt", _:
            return "held it for a person"
        case "call.withdrawn", _:
            return "withdrew it"
    return ""


def _listed(acts: Sequence[str]) -> str:
    *most, last = acts
    return f"{', '.join(most)} and {last}" if most else last
