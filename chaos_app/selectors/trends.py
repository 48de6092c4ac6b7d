"""How places and cases went over the last runs, for strips: one mark a run, the worst end where there were several."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import getitem
from typing import Any

from chaos_app.drills.names import Verdict
from chaos_app.drills.rows import BY_ID
from chaos_app.models import DrillCase, DrillRun
from chaos_app.selectors.runs import LATEST, tries_counted
from core.models import Workspace

_WORST = {str(verdict): at for at, verdict in enumerate(Verdict)}
FIELDS = ("run_id", "cell", "repeat", "row", "verdict", "as_allowed", "is_violation", "takeover", "takeover_bound")


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """One line. ``marks``: one a run, the oldest first; None where it was not drilled. Times (seconds): of the last."""

    name: str
    title: str
    marks: tuple[dict[str, Any] | None, ...]
    takeover: float | None
    bound: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trends:
    """Strips over the same runs."""

    runs: tuple[DrillRun, ...]
    strips: tuple[Strip, ...]


def trends(*, workspace: Workspace, row: str = "") -> Trends:
    """Return a strip a place, or with ``row`` a strip a case of that place."""
    newest = DrillRun.objects.filter(workspace=workspace, state__in=("ended", "stopped"), cases__bug="").distinct()
    runs = tuple(newest.order_by("-pk")[:LATEST])[::-1]
    cases = DrillCase.objects.filter(run__in=runs, bug="").values(*FIELDS)
    found: dict[str, dict[Any, list[dict[str, Any]]]] = {}
    for case in tries_counted(list(cases.filter(row=row) if row else cases), getitem):
        name = case["cell"] if row else case["row"]
        found.setdefault(name, {}).setdefault(case["run_id"], []).append(case)
    names = sorted(found) if row else [name for name in BY_ID if name in found]
    return Trends(runs=runs, strips=tuple(_strip(name, found[name], runs) for name in names))


def _strip(name: str, found: dict[Any, list[dict[str, Any]]], runs: Sequence[DrillRun]) -> Strip:
    marks = tuple(_mark(found.get(run.pk, [])) for run in runs)
    last = next((mark for mark in reversed(marks) if mark is not None), None)
    title = BY_ID[name].title if name in BY_ID else ""
    times = (last["takeover"], last["takeover_bound"]) if last else (None, None)
    return Strip(name=name, title=title, marks=marks, takeover=times[0], bound=times[1])


def _mark(cases: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the worst of a run's cases, with the longest takeover among them."""
    if not cases:
        return None
    worst = min(cases, key=lambda case: (case["as_allowed"], _WORST[case["verdict"]]))
    slowest = max(cases, key=lambda case: case["takeover"] or 0.0)
    return worst | {"takeover": slowest["takeover"], "takeover_bound": slowest["takeover_bound"]}
