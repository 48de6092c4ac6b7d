"""What was intended beside what is really there. Pure: from lists to rows, to a sentence."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median, quantiles
from typing import Any

from chaos_app.demo.reports import Incident
from chaos_app.injector.plan import Plan, Stage
from chaos_app.world.client import Effect


@dataclass(frozen=True, kw_only=True)
class Row:
    """One effect of one incident: how often intended (1), how often found outside, and the word for it."""

    incident: str
    status: str
    tool: str
    found: int
    references: list[str]
    keys: frozenset[str]  # of the task's own calls of that tool
    strangers: int  # found, but by no call of the task

    @property
    def verdict(self) -> str:
        """ONCE, LOST, REPEATED, or WRONG: there, but not by a call of this task."""
        if self.found == 1:
            return "WRONG" if self.strangers else "ONCE"
        return "LOST" if self.found == 0 else "REPEATED"


def rows(
    incidents: Sequence[Incident],
    statuses: Mapping[str, str],
    calls: Mapping[str, Sequence[Mapping[str, Any]]],
    effects: Sequence[Effect],
) -> list[Row]:
    """Return a row for each effect that each incident must have. ``calls``: of the task of each incident."""
    result = []
    for incident in incidents:
        for wanted in incident.expected:
            found = [e for e in effects if e.business_key == wanted.business_key and e.stored and not e.planted]
            keys = frozenset(call["key"] for call in calls[incident.id] if call["tool"] == wanted.tool)
            result.append(
                Row(
                    incident=incident.id,
                    status=statuses[incident.id],
                    tool=wanted.tool,
                    found=len(found),
                    references=[effect.reference[:12] for effect in found],
                    keys=keys,
                    strangers=sum(effect.key not in keys for effect in found),
                )
            )
    return result


def ghosts(effects: Sequence[Effect], incidents: Sequence[Incident]) -> list[str]:
    """Return the effects that nobody intended."""
    wanted = {expected.business_key for incident in incidents for expected in incident.expected}
    return [f"{e.system} {e.reference}" for e in effects if e.business_key not in wanted and not e.planted]


def takeover(plan: Plan, events: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the seconds from a death to the next epoch's first event; None where the task did not go on."""
    claims = [datetime.fromisoformat(e["at"]).timestamp() for e in events if e["kind"] == "slice.claimed"]
    return min((claimed - plan.killed_at for claimed in claims if claimed > plan.killed_at), default=None)


def levels(events: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """Count the answers that the record holds by the level of the sandbox in which each was made."""
    answers = [event["data"] for event in events if event["kind"] == "call.outcome" and event["data"].get("sent", True)]
    return Counter((answer.get("sandbox") or {}).get("level", "none") for answer in answers)


def spread(seconds: Sequence[float]) -> str:
    """Return median, 95 % and largest in words."""
    if not seconds:
        return "none"
    high = quantiles(seconds, n=20, method="inclusive")[-1] if len(seconds) > 1 else seconds[0]
    return f"median {median(seconds):.2f} s, 95 % {high:.2f} s, largest {max(seconds):.2f} s, of {len(seconds)}"


def problems(
    found: Sequence[Row],
    takeovers: Sequence[tuple[Plan, float | None]],
    strange: Sequence[str],
    disagreements: Sequence[str],
) -> list[str]:
    """Return what stands against success, a sentence each; nothing means that all is well.

    A death without a takeover in the record hit somebody who was not at work there: it did not land where it should.
    """
    told = [f"{row.incident} {row.tool}: {row.verdict}" for row in found if row.verdict != "ONCE"]
    unfinished = {row.incident: row.status for row in found if row.status != "completed"}
    told += [f"{incident} is {status}, not completed" for incident, status in unfinished.items()]
    told += [f"an effect that nobody intended: {effect}" for effect in strange]
    told += [f"the world disagrees with itself: {said}" for said in disagreements]
    told += [f"a planned death did not land: {_of(plan)}" for plan, _ in takeovers if plan.stage != Stage.LANDED]
    unseen = [plan for plan, seconds in takeovers if plan.stage == Stage.LANDED and seconds is None]
    return told + [f"the record shows no takeover after a death: {_of(plan)}" for plan in unseen]


def _of(plan: Plan) -> str:
    place = plan.place
    return f"{place.boundary.value} {place.position.value} {place.call or ''} ({plan.stage.value} {plan.why})".strip()
