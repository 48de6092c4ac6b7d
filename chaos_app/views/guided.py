"""The first five minutes: a strip that guides, the task on the left, the outside world on the right."""

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from chaos_app.guided.stages import ENDS, STAGES, STEPS
from chaos_app.guided.state import state_read
from chaos_app.guided.told import line_of
from chaos_app.models import DrillRun
from chaos_app.services.guided import SUITE, guided_follow, guided_launch, guided_mine, guided_order
from chaos_app.services.launch import drills_refused
from chaos_app.views.who import reader, run_reader
from core.access import Right
from core.errors import Conflict, Forbidden, NotFound


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def first_page(request: HttpRequest) -> HttpResponse:
    """Say what it is; start it."""
    principal = reader(request)
    problem = ""
    if request.method == "POST":
        who = principal.require(Right.DRILLS_RUN)
        try:
            run = guided_launch(workspace=who.workspace, user=who.user, actor=who.actor)
        except (Conflict, Forbidden) as refused:
            problem = refused.detail
        else:
            return HttpResponseRedirect(reverse("drill-guided", args=[run.pk]), status=303)
    context = {
        "steps": STEPS,
        "problem": problem,
        "refused": drills_refused(workspace=principal.workspace),
        "may_run": principal.may(Right.DRILLS_RUN),
        "mine": guided_mine(workspace=principal.workspace, user=principal.user),
        "principal": principal,
    }
    return render(request, "drills/first.html", context, status=409 if problem else 200)


@never_cache
@login_required
@require_safe
def guided_page(request: HttpRequest, run: UUID) -> HttpResponse:
    """Show both sides as they are now."""
    return render(request, "drills/guided.html", _context(request, run))


@never_cache
@login_required
@require_safe
def guided_parts(request: HttpRequest, run: UUID) -> HttpResponse:
    """Return the parts that differ from what the page has, by their digests; nothing where none does."""
    context = _context(request, run)
    fresh = request.GET.get("strip") != context["strip_seen"]
    if not fresh and request.GET.get("seen") == context["seen"]:
        return HttpResponse(status=204)  # nothing is replaced: what a person selects or types stays
    return render(request, "drills/_guided_parts.html", context | {"oob": True, "fresh_strip": fresh})


@never_cache
@login_required
@require_POST
def guided_do(request: HttpRequest, run: UUID) -> HttpResponse:
    """Give the run an order."""
    principal = run_reader(request, run).require(Right.DRILLS_RUN)
    order = {"do": request.POST.get("do", ""), "reference": request.POST.get("reference", "")[:300]}
    guided_order(workspace=principal.workspace, run=run, order=order, user=principal.user)
    return HttpResponseRedirect(reverse("drill-guided", args=[run]), status=303)


def _context(request: HttpRequest, pk: UUID) -> dict[str, Any]:
    principal = run_reader(request, pk)
    guided_follow()
    run = DrillRun.objects.filter(workspace=principal.workspace, pk=pk, suite=SUITE).first()
    if run is None:
        raise NotFound
    state = state_read(Path(run.folder)) if run.folder else None
    state = state or {"stage": "starting"}
    name = str(state["stage"]) if state.get("stage") in STAGES else "failed"
    if not run.is_running and name not in ENDS:
        name = "failed"
    task = state.get("task") or {}
    return {
        "run": run,
        "stage": STAGES[name],
        "is_over": name in ENDS or not run.is_running,
        "steps": [_step(number, label, STAGES[name].step) for number, label in enumerate(STEPS, start=1)],
        "problem": str(state.get("problem") or run.why),
        "asked": state.get("asked", ""),
        "killed": state.get("killed", ""),
        "until": _moment(state.get("until")),
        "task": task,
        "rows": [_row(row) for row in task.get("rows", [])],
        "world": state.get("world") or [],
        "may_run": principal.may(Right.DRILLS_RUN),
        "principal": principal,
        "seen": _digest([task, state.get("world")]),
        "strip_seen": _digest([name, state.get("problem"), run.is_running]),
    }


def _digest(shown: Any) -> str:
    return hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()[:16]


def _step(number: int, label: str, here: int) -> dict[str, Any]:
    return {"number": number, "label": label, "is_current": number == here, "is_done": number < here}


def _row(told: dict[str, Any]) -> dict[str, Any]:
    cause = line_of(told["cause"]) if told["cause"] else None
    return {**told, "line": line_of(told["line"]), "cause": cause, "at": _moment(told["at"])}


def _moment(seconds: Any) -> datetime | None:
    return datetime.fromtimestamp(float(seconds), UTC) if seconds else None
