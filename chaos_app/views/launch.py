"""Launching drills, and switching them off."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from chaos_app.forms import LaunchForm, ReasonForm
from chaos_app.models import DrillPin
from chaos_app.selectors.targets import Offered, targets_offered
from chaos_app.services.launch import drill_launch, drills_refused, drills_switch, preview
from chaos_app.views.who import reader
from core.access import Right
from core.errors import Conflict, Forbidden, HandrailError, InvalidInput
from core.places import place_url

SECONDS_A_CASE = {"core": 0.8, "full": 1.5, "soak": 1.0}


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def launch_page(request: HttpRequest) -> HttpResponse:
    """Choose, look at what would run, run."""
    principal = reader(request)
    given = request.POST if request.method == "POST" else request.GET if "suite" in request.GET else None
    offered = targets_offered()
    initial = {name: request.GET.get(name, "") for name in ("cell", "target", "sandbox")}
    form = LaunchForm(given, initial=initial, targets=offered)
    problem: HandrailError | None = None
    if request.method == "POST" and request.POST.get("do") == "launch" and form.is_valid():
        try:
            principal.require(Right.DRILLS_RUN)
            run = drill_launch(
                workspace=principal.workspace,
                user=principal.user,
                actor=principal.actor,
                suite=form.cleaned_data["suite"],
                selection=form.selection(),
                seed=form.cleaned_data["seed"],
            )
        except (Conflict, Forbidden, InvalidInput) as refused:
            problem = refused
        else:
            return HttpResponseRedirect(reverse("drill-run", args=[run.pk]), status=303)
    context = {
        "form": form,
        "problem": problem,
        "refused": drills_refused(workspace=principal.workspace),
        "may_run": principal.may(Right.DRILLS_RUN),
        "pins": DrillPin.objects.filter(workspace=principal.workspace).select_related("by").order_by("-at")[:20],
        "shown": _preview(form, offered) if given is not None and form.is_valid() else None,
        "unusable": [one for one in offered if one.problem],
        "principal": principal,
    }
    return render(request, "drills/launch.html", context, status=problem.status if problem else 200)


def _preview(form: LaunchForm, offered: list[Offered]) -> dict[str, object]:
    suite, chosen = form.cleaned_data["suite"], form.selection()
    target = next((one for one in offered if one.path == chosen.get("target")), None)
    if target is not None:
        return {"target": target, "suite": suite}
    ids = preview(suite=suite, selection=chosen)
    count = int(chosen["kills"]) if suite == "soak" else len(ids)
    seconds = 25 + count * SECONDS_A_CASE[suite]
    return {"ids": ids[:300], "count": count, "seconds": seconds, "suite": suite}


@login_required
@require_POST
def switch(request: HttpRequest) -> HttpResponse:
    """Switch drills off in the workspace, or on again."""
    principal = reader(request).require(Right.STOPS_SET)
    form = ReasonForm(request.POST)
    if not form.is_valid():
        raise InvalidInput("Say why; nothing was changed.")
    off = request.POST.get("off") == "1"
    drills_switch(
        workspace=principal.workspace,
        user=principal.user,
        actor=principal.actor,
        off=off,
        reason=form.cleaned_data["reason"],
    )
    messages.success(
        request, "No drill starts here now; running ones were asked to stop." if off else "Drills may run."
    )
    return HttpResponseRedirect(place_url(principal, "drills"), status=303)
