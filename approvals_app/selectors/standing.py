"""The stops of a person's workspaces as their page shows them: which stand, what may still send, who may lift them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User

from approvals_app.rights import workspaces_of
from core.access import Right
from tasks_app.models import StopSwitch
from tasks_app.selectors.stops import attempts_before, stops_in

MOST_ATTEMPTS = 50  # of one stop, on the page; the API lists all


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingStop:
    """A stop, its earlier attempts without outcome (``more`` are left out), and whether the reader may lift it."""

    switch: StopSwitch
    attempts: Sequence[dict[str, Any]]
    more: int
    may: bool
    beyond: bool  # it reaches beyond a workspace, and the reader may set and lift others

    @property
    def state(self) -> str:
        """What its place on the page depends on; the words of a time change by themselves."""
        return f"{self.attempts} {self.more} {self.may} {self.beyond}"


def standing_stops(*, user: User) -> list[StandingStop]:
    """Return the stops that stand where this person may read approvals, the oldest first."""
    seen = workspaces_of(user=user, right=Right.APPROVALS_READ)
    setting = set(workspaces_of(user=user, right=Right.STOPS_SET))
    told = []
    for switch in stops_in(workspaces=seen):
        everywhere = switch.scope == "all"
        may = user.is_superuser and bool(setting) if everywhere else switch.workspace_id in setting
        attempts = attempts_before(switch, workspaces=seen)
        shown = [{**one, "until": _moment(one["send_by"])} for one in attempts[:MOST_ATTEMPTS]]
        beyond = everywhere and bool(setting) and not may
        more = len(attempts) - len(shown)
        told.append(StandingStop(switch=switch, attempts=shown, more=more, may=may, beyond=beyond))
    return told


def _moment(given: str | None) -> datetime | None:
    return datetime.fromisoformat(given) if given else None
