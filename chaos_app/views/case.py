"""One case with its evidence, and how its cell went in the last runs."""

import json
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from chaos_app.drills.rows import BY_ID
from chaos_app.models import DrillCase
from chaos_app.selectors.runs import case_get, trend
from chaos_app.services.cases import evidence_known
from chaos_app.views.who import reader, run_reader
from core.errors import NotFound

STRIP = 22  # pixels from one run to the next
HIGH = 60  # pixels of the plot


@never_cache
@login_required
@require_safe
def case_page(request: HttpRequest, run: UUID, case: int) -> HttpResponse:
    """Show record and outside count side by side; of evidence of another version only what was judged of it."""
    principal = run_reader(request, run)
    row = case_get(workspace=principal.workspace, run=run, case=case)
    evidence = evidence_known(row.evidence, run=str(row.run_id), name=row.name)
    context = {"case": row, "run": row.run, "evidence": evidence, "row": BY_ID.get(row.row), "principal": principal}
    drawn = trend_drawn(trend(workspace=principal.workspace, cell=row.cell))
    return render(request, "drills/case.html", context | drawn)


@never_cache
@login_required
@require_safe
def case_file(request: HttpRequest, run: UUID, case: int) -> HttpResponse:
    """Download the evidence, as it is judged."""
    principal = run_reader(request, run)
    row = case_get(workspace=principal.workspace, run=run, case=case)
    name = f"evidence-{row.digest[:12]}.json"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(json.dumps(row.evidence, ensure_ascii=False), content_type="application/json", headers=headers)


@never_cache
@login_required
@require_safe
def trend_page(request: HttpRequest, cell: str) -> HttpResponse:
    """Show how one case went in the last runs."""
    principal = reader(request)
    found = trend(workspace=principal.workspace, cell=cell)
    if not found:
        raise NotFound
    context = {"cell": cell, "row": BY_ID.get(found[0].row), "principal": principal}
    return render(request, "drills/trend.html", context | trend_drawn(found))


def trend_drawn(cases: list[DrillCase]) -> dict[str, Any]:
    """Return the strip and the plot of takeover times against their bound, as numbers for SVG attributes."""
    bounds = [case.takeover_bound for case in cases if case.takeover_bound]
    most = max([*bounds, *(case.takeover for case in cases if case.takeover is not None)], default=1.0)
    points = [_point(at, case, most) for at, case in enumerate(cases)]
    bound = HIGH - HIGH * (max(bounds) / most) + 4 if bounds else None
    plot = {"width": STRIP * max(len(cases), 1), "height": HIGH + 8, "bound": bound}
    return {"trend": points, "plot": plot, "bound_seconds": max(bounds, default=None)}


def _point(at: int, case: DrillCase, most: float) -> dict[str, Any]:
    y = None if case.takeover is None else HIGH - HIGH * min(case.takeover / most, 1.0) + 4
    return {"case": case, "x": at * STRIP + STRIP // 2, "left": at * STRIP + 2, "y": y}
