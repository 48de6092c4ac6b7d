"""All runs, one run, and what is downloaded of it."""

import io
import json
import zipfile
from functools import cache
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from chaos_app.drills.left_out import LeftOut
from chaos_app.drills.matrix import COLUMNS, matrix
from chaos_app.drills.names import UNDECIDED
from chaos_app.drills.obligations import obligations
from chaos_app.drills.undrilled import Undrilled, undrilled
from chaos_app.models import DrillAlert, DrillRun
from chaos_app.reports import download, report_file
from chaos_app.selectors.runs import (
    alerts_open,
    cases_counted,
    lanes_of,
    run_get,
    runs_latest,
    tallies,
    worst_first,
)
from chaos_app.services.alerts import alert_seen, may_end_alerts
from chaos_app.services.guided import SUITE as GUIDED
from chaos_app.services.launch import drill_stop, drills_refused
from chaos_app.views.who import reader, run_reader
from core.access import Right
from core.code import code_digest

SHOWN = 60  # cases in the list before a filter is asked for


@never_cache
@login_required
@require_safe
def drills_page(request: HttpRequest) -> HttpResponse:
    """Show all runs, and the matrix of the last one that ended."""
    principal = reader(request)
    runs = runs_latest(workspace=principal.workspace)
    last = next((run for run in runs if not run.is_running and run.cases.exists()), None)
    cases = cases_counted(last) if last else []
    code = str(last.versions.get("code", "")) if last else ""
    is_of_now = code == code_here()
    context = {
        "other_code": "" if is_of_now else code or "unknown",
        "runs": runs,
        "last": last,
        "tallies": tallies(cases),
        "alerts": alerts_open(workspace=principal.workspace),
        "refused": drills_refused(workspace=principal.workspace),
        "may_run": principal.may(Right.DRILLS_RUN),
        "may_switch": principal.may(Right.STOPS_SET),
        "principal": principal,
        **_matrix(cases if is_of_now else []),
    }
    return render(request, "drills/list.html", context)


@cache
def code_here() -> str:
    """Return what this process runs: read once, as the code was loaded once."""
    return code_digest()


def _matrix(cases: list[Any]) -> dict[str, Any]:
    lines = matrix(cases)
    return {
        "lines": [line for line in lines if line.is_drilled],
        "undrilled": [line for line in lines if not line.is_drilled],
        "columns": COLUMNS,
        "undecided": [str(one) for one in UNDECIDED],
    }


@never_cache
@login_required
@require_safe
def run_page(request: HttpRequest, run: UUID) -> HttpResponse:
    """Show one run: under way with a lane for each case, over with its matrix."""
    principal = run_reader(request, run)
    row = run_get(workspace=principal.workspace, run=run)
    if row.suite == GUIDED:
        return HttpResponseRedirect(reverse("drill-guided", args=[run]))
    cases = cases_counted(row)
    wanted = {name: request.GET.get(name, "") for name in ("row", "class", "verdict")}
    found = [case for case in worst_first(cases) if _fits(case, wanted)]
    context = {
        "run": row,
        "cases": found[:SHOWN],
        "hidden": max(len(found) - SHOWN, 0),
        "wanted": wanted,
        "done": len(cases),
        "tallies": tallies(cases),
        "lanes": lanes_of(row) if row.is_running else [],
        "obligations": obligations(cases),
        "elsewhere": [] if row.is_running else _elsewhere(row, cases),
        "links": True,
        "part": "HX-Request" in request.headers,
        "alert": DrillAlert.objects.filter(run=row).select_related("seen_by").first(),
        "may_run": principal.may(Right.DRILLS_RUN),
        "may_end_alert": may_end_alerts(principal),
        "principal": principal,
        **_matrix(cases),
    }
    return render(request, "drills/run.html", context)


def _elsewhere(run: DrillRun, cases: list[Any]) -> list[Undrilled]:
    """Return the places of the table at which no case of a run was, each with the reason."""
    left = [LeftOut(**one) for one in run.left_out]
    return undrilled({case.row for case in cases}, left, suite=run.suite, command=run.command)


def _fits(case: Any, wanted: dict[str, str]) -> bool:
    held = {"row": case.row, "class": case.klass, "verdict": case.verdict}
    return all(not value or held[name] == value for name, value in wanted.items())


@login_required
@require_POST
def run_stop(request: HttpRequest, run: UUID) -> HttpResponse:
    """Ask a run to stop and clean up."""
    principal = run_reader(request, run).require(Right.DRILLS_RUN)
    drill_stop(workspace=principal.workspace, run=run, user=principal.user)
    messages.success(request, "The run was asked to stop. It ends its own processes and removes what it had started.")
    return _back(run)


@login_required
@require_POST
def alert_end(request: HttpRequest, run: UUID) -> HttpResponse:
    """Somebody has seen an alert."""
    alert_seen(principal=run_reader(request, run), run=run)
    return _back(run)


def _back(run: UUID) -> HttpResponse:
    return HttpResponseRedirect(reverse("drill-run", args=[run]), status=303)


@never_cache
@login_required
@require_safe
def run_file(request: HttpRequest, run: UUID, form: str) -> HttpResponse:
    """Download a run: its report, or all evidence as one archive."""
    row = run_get(workspace=run_reader(request, run).workspace, run=run)
    if form == "evidence":
        return _archive(row)
    return report_file(row, form)


def _archive(row: DrillRun) -> HttpResponse:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        sums = []
        for name, digest, evidence in row.cases.order_by("pk").values_list("name", "digest", "evidence"):
            archive.writestr(f"{name}.json", json.dumps(evidence, ensure_ascii=False))
            sums.append(f"{digest}  {name}.json")
        archive.writestr("canonical-sha256.txt", "\n".join(sums) + "\n")
    return download(made.getvalue(), "application/zip", f"drill-{row.pk}-evidence.zip")
