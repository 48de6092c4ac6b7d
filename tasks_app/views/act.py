"""What operators do from the page of a task: one POST an action, each to one service."""

from collections.abc import Callable
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from core.access import Right
from core.errors import Conflict, Forbidden, InvalidInput, NotFound
from core.principal import Principal
from tasks_app.forms import ACTION_FORMS, fresh_forms
from tasks_app.models import Task
from tasks_app.services.cancel import task_cancel
from tasks_app.services.copy import task_copy
from tasks_app.services.recheck import recheck_ask
from tasks_app.services.signal import signal_send
from tasks_app.services.steer import task_pause, task_resume
from tasks_app.status import Status
from tasks_app.views.task import page_of
from tasks_app.views.who import task_reader

Answer = tuple[str, UUID]


@never_cache
@login_required
@require_POST
def task_act(request: HttpRequest, task: UUID, action: str) -> HttpResponse:
    """Do it, and lead back to the page; refused, show the fresh page with the refusal."""
    principal, row = task_reader(request, task)
    if action not in ACTION_FORMS:
        raise NotFound
    form = ACTION_FORMS[action](request.POST, prefix=action, auto_id="%s")
    try:
        said, leads = _done(action, principal, row, form)
    except (Conflict, Forbidden, InvalidInput) as problem:
        shown = fresh_forms() | {action: form}
        return page_of(request, principal, Task.objects.get(pk=row.pk), problem=problem, forms=shown, opened=action)
    messages.success(request, said)
    return HttpResponseRedirect(reverse("task", args=[leads]), status=303)


def _done(action: str, principal: Principal, task: Task, form: forms.Form) -> Answer:
    if not form.is_valid():
        said = "; ".join(f"{name}: {' '.join(map(str, errors))}" for name, errors in form.errors.items())
        raise InvalidInput(f"Nothing was done. {said}")
    return _DOES[action](principal, task, form)


def _pause(principal: Principal, task: Task, form: forms.Form) -> Answer:
    who = principal.require(Right.TASKS_OPERATE)
    task_pause(workspace=who.workspace, task=task.pk, actor=who.actor, reason=form.cleaned_data["reason"])
    return "The task is paused. Attempts that are open are still settled.", task.pk


def _resume(principal: Principal, task: Task, form: forms.Form) -> Answer:
    who = principal.require(Right.TASKS_OPERATE)
    task_resume(workspace=who.workspace, task=task.pk, actor=who.actor, reason=form.cleaned_data["reason"])
    return "The task goes on.", task.pk


def _recheck(principal: Principal, task: Task, form: forms.Form) -> Answer:
    who = principal.require(Right.TASKS_OPERATE)
    recheck_ask(workspace=who.workspace, task=task.pk, actor=who.actor)
    return "A worker checks it again; what it sees is added to the timeline.", task.pk


def _cancel(principal: Principal, task: Task, form: forms.Form) -> Answer:
    who = principal.require(Right.TASKS_OPERATE)
    done = task_cancel(workspace=who.workspace, task=task.pk, actor=who.actor, reason=form.cleaned_data["reason"])
    if done.status == Status.CANCELLED:
        return "The task is cancelled.", task.pk
    return "The task is being cancelled: what was attempted is settled first.", task.pk


def _signal(principal: Principal, task: Task, form: forms.Form) -> Answer:
    who, given = principal.require(Right.TASKS_OPERATE), form.cleaned_data
    answer = signal_send(
        workspace=who.workspace,
        task=task.pk,
        actor=who.actor,
        name=given["name"],
        payload=given["payload"],
        request_key=given["request_key"],
    )
    return f"The signal is in the record as event {answer.seq}.", task.pk


def _copy(principal: Principal, task: Task, form: forms.Form) -> Answer:
    who, given = principal.require(Right.TASKS_CREATE), form.cleaned_data
    made = task_copy(
        workspace=who.workspace,
        task=task.pk,
        owner=who.user,
        actor=who.actor,
        step=given["step"],
        title=given["title"],
        request_key=given["request_key"],
    )
    return "This is the copy. It has calls, keys and approvals of its own.", made.pk


_DOES: dict[str, Callable[[Principal, Task, forms.Form], Answer]] = {
    "pause": _pause,
    "resume": _resume,
    "recheck": _recheck,
    "cancel": _cancel,
    "signal": _signal,
    "copy": _copy,
}
