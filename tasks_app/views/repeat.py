"""The form with which a person lets the act of a settled call be done once more."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from core.access import Right
from core.errors import Conflict, Forbidden, HandrailError, InvalidInput, NotFound
from core.principal import Principal
from tasks_app.forms import ReasonForm
from tasks_app.models import Call, Task
from tasks_app.services.repeat import repeat_allow
from tasks_app.views.who import task_reader


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def call_repeat_page(request: HttpRequest, task: UUID, name: str) -> HttpResponse:
    """Say what allowing it means and ask why; by POST, allow it and lead back to the task."""
    principal, row = task_reader(request, task)
    call = Call.objects.filter(task=row, name=name).first()
    if call is None:
        raise NotFound
    if request.method != "POST":
        return _form(request, principal, row, call, ReasonForm())
    form = ReasonForm(request.POST)
    if not form.is_valid():
        return _form(request, principal, row, call, form, status=422)
    try:
        who = principal.require(Right.TASKS_SETTLE)
        reason = form.cleaned_data["reason"]
        repeat_allow(workspace=who.workspace, task=row.pk, name=name, actor=who.actor, reason=reason)
    except (Conflict, Forbidden, InvalidInput) as problem:
        return _form(request, principal, row, call, form, problem=problem)
    messages.success(request, "Allowed: one more call that is the same act will not be refused.")
    return HttpResponseRedirect(reverse("task", args=[row.pk]), status=303)


def _form(
    request: HttpRequest,
    principal: Principal,
    task: Task,
    call: Call,
    form: ReasonForm,
    *,
    problem: HandrailError | None = None,
    status: int = 200,
) -> HttpResponse:
    context = {
        "task": task,
        "call": call,
        "form": form,
        "problem": problem,
        "may": principal.may(Right.TASKS_SETTLE),
        "open": bool(call.holds_business_key and call.business_key and call.settled_seq),
    }
    return render(request, "tasks/repeat.html", context, status=problem.status if problem else status)
