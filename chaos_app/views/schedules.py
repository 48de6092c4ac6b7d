"""Schedules: their next times with offsets, every slot with its one end, add, change, remove."""

from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from chaos_app.drills.slots import occurrences
from chaos_app.forms import ScheduleForm
from chaos_app.models import DrillSchedule
from chaos_app.selectors.targets import targets_offered
from chaos_app.services.slots import schedule_remove, schedule_set
from chaos_app.views.who import reader
from core.access import Right
from core.clock import database_now
from core.errors import InvalidInput
from core.places import place_url

SLOTS = 12


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def schedules_page(request: HttpRequest) -> HttpResponse:
    """Show all schedules; POST adds or changes the one of that name."""
    principal = reader(request)
    mine = DrillSchedule.objects.filter(workspace=principal.workspace)
    chosen = mine.filter(name=request.GET.get("name", "")).first()
    initial = {**vars(chosen), "target": chosen.selection.get("target", "")} if chosen else None
    form = ScheduleForm(request.POST or None, initial=initial, targets=targets_offered())
    problem: InvalidInput | None = None
    if request.method == "POST" and form.is_valid():
        who = principal.require(Right.DRILLS_RUN)
        name = form.cleaned_data["name"]
        try:
            schedule_set(workspace=who.workspace, user=who.user, actor=who.actor, name=name, values=form.values())
        except InvalidInput as refused:
            problem = refused
        else:
            messages.success(request, f"The schedule {name} is set.")
            return HttpResponseRedirect(place_url(principal, "drill-schedules"), status=303)
    context = {
        "schedules": [_shown(row) for row in mine.select_related("owner").order_by("name")],
        "form": form,
        "problem": problem,
        "may_run": principal.may(Right.DRILLS_RUN),
        "principal": principal,
    }
    return render(request, "drills/schedules.html", context, status=problem.status if problem else 200)


def _shown(row: DrillSchedule) -> dict[str, Any]:
    zone = ZoneInfo(row.zone)
    slots = occurrences(row.cron, row.zone, database_now()) if row.enabled else iter(())
    coming = [at.astimezone(zone) for at in islice(slots, 3)]
    past = row.slots.select_related("run").order_by("-at")[:SLOTS]
    return {"row": row, "next": [(at, f"{at:%a %Y-%m-%d %H:%M %z}") for at in coming], "slots": past}


@login_required
@require_POST
def schedule_removed(request: HttpRequest, schedule: int) -> HttpResponse:
    """Remove a schedule."""
    principal = reader(request).require(Right.DRILLS_RUN)
    schedule_remove(workspace=principal.workspace, actor=principal.actor, schedule=schedule)
    messages.success(request, "The schedule was removed; its runs stay.")
    return HttpResponseRedirect(place_url(principal, "drill-schedules"), status=303)
