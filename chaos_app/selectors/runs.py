"""Reading runs, their cases and their trends; every query by workspace."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from chaos_app.drills.names import UNDECIDED, Verdict
from chaos_app.models import DrillAlert, DrillCase, DrillRun
from core.errors import NotFound
from core.models import Workspace

LATEST = 30  # runs in a trend
WITHOUT = ("evidence",)


@dataclass(frozen=True, kw_only=True)
class Lane:
    """What one case of a running drill is doing now."""

    cell: str
    stage: str
    what: str
    worker: str
    epoch: int | None
    at: float
    passed: tuple[str, ...]


def runs_latest(*, workspace: Workspace, most: int = 30) -> list[DrillRun]:
    """Return the newest runs."""
    return list(DrillRun.objects.filter(workspace=workspace).select_related("launched_by").order_by("-pk")[:most])


def run_get(*, workspace: Workspace, run: UUID) -> DrillRun:
    """Return one run. Raises NotFound."""
    found = DrillRun.objects.filter(workspace=workspace, pk=run).select_related("launched_by", "stop_asked_by").first()
    if found is None:
        raise NotFound
    return found


def cases_counted(run: DrillRun) -> list[DrillCase]:
    """Return the cases that count: of the product as it is, the last try of each that said nothing at first."""
    return tries_counted(list(run.cases.filter(bug="").defer(*WITHOUT).order_by("pk")))


def tries_counted[Row](rows: Sequence[Row], get: Callable[[Row, str], Any] = getattr) -> list[Row]:
    """Leave aside each try that said nothing and was repeated in its run. ``get``: how a row is asked for a field."""
    last: dict[tuple[Any, str], int] = {}
    for row in rows:
        case = get(row, "run_id"), get(row, "cell")
        last[case] = max(last.get(case, 0), get(row, "repeat"))
    return [
        row
        for row in rows
        if get(row, "verdict") not in UNDECIDED or get(row, "repeat") == last[get(row, "run_id"), get(row, "cell")]
    ]


def case_get(*, workspace: Workspace, run: UUID, case: int) -> DrillCase:
    """Return one case with its evidence. Raises NotFound."""
    found = DrillCase.objects.filter(run__workspace=workspace, run=run, pk=case).select_related("run").first()
    if found is None:
        raise NotFound
    return found


def tallies(cases: Sequence[DrillCase]) -> list[tuple[str, int]]:
    """Return how many cases ended how, the good ends first."""
    found = Counter(case.verdict for case in cases)
    return [(str(verdict), found[verdict]) for verdict in reversed(Verdict) if found[verdict]]


def worst_first(cases: Sequence[DrillCase]) -> list[DrillCase]:
    """Return cases, those that are not as allowed first, then by their place in the table."""
    order = {str(verdict): at for at, verdict in enumerate(Verdict)}
    return sorted(cases, key=lambda case: (case.as_allowed, not case.is_violation, order[case.verdict], case.pk))


def lanes_of(run: DrillRun) -> list[Lane]:
    """Return what the cases of a running drill are doing, the latest first; empty where its controller is elsewhere."""
    seen: dict[str, list[dict[str, Any]]] = {}
    for said in _progress(run):
        seen.setdefault(str(said.get("cell", "")), []).append(said)
    lanes = [_lane(cell, said) for cell, said in seen.items()]
    active = [lane for lane in lanes if lane.stage not in {"judged", "over"}]
    return sorted(active, key=lambda lane: -lane.at)[:16]


def _progress(run: DrillRun) -> list[dict[str, Any]]:
    found = []
    try:
        lines = (Path(run.folder) / "progress.jsonl").read_text().splitlines() if run.folder else []
    except OSError:
        lines = []
    done = set(run.cases.values_list("cell", flat=True))
    for line in lines[-2000:]:
        try:
            said = json.loads(line)
        except ValueError:  # the last line is being written
            continue
        if isinstance(said, dict) and said.get("cell") not in done:
            found.append(said)
    return found


def _lane(cell: str, said: Sequence[dict[str, Any]]) -> Lane:
    last = said[-1]
    return Lane(
        cell=cell,
        stage=str(last.get("stage", "")),
        what=str(last.get("what", "")),
        worker=str(last.get("worker") or ""),
        epoch=last.get("epoch"),
        at=float(last.get("at") or 0),
        passed=tuple(dict.fromkeys(str(one.get("stage", "")) for one in said)),
    )


def trend(*, workspace: Workspace, cell: str) -> list[DrillCase]:
    """Return the last cases of one cell that count, the oldest first."""
    rows = DrillCase.objects.filter(run__workspace=workspace, cell=cell, bug="").defer(*WITHOUT).select_related("run")
    return tries_counted(list(rows.order_by("-ended_at")[: 2 * LATEST]))[:LATEST][::-1]


def alerts_open(*, workspace: Workspace) -> list[DrillAlert]:
    """Return the alerts that nobody has seen."""
    found = DrillAlert.objects.filter(run__workspace=workspace, seen_at=None).select_related("run")
    return list(found.order_by("-at"))
