"""The form for a call whose outcome nobody can tell: what is known of it, and what a person answers."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.access import Right
from core.errors import Conflict, Forbidden, HandrailError, InvalidInput, NotFound, Unavailable
from core.places import way_back
from core.principal import Principal
from tasks_app.forms import SettleForm
from tasks_app.live.doubt_feed import DoubtFeed
from tasks_app.live.polled import polled
from tasks_app.models import Call, Task
from tasks_app.selectors.doubt import doubt_of
from tasks_app.services.look_up import look_up_ask
from tasks_app.services.settle import call_settle
from tasks_app.views.who import task_reader

_GOES_ON = "Recorded. The task goes on as soon as no other outcome is unknown."
_AGAIN = "Recorded. The new call waits for an approval of its own; it is on the desk."


@never_cache
@login_required
@require_safe
def call_doubt(request: HttpRequest, task: UUID, call: int) -> HttpResponse:
    """Lead to the form: an address that stays short, whatever the call is called."""
    _, row = task_reader(request, task)
    found = Call.objects.filter(task=row, pk=call).first()
    if found is None:
        raise NotFound
    return HttpResponseRedirect(reverse("call-settle", args=[row.pk, found.name]))


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def call_settle_page(request: HttpRequest, task: UUID, name: str) -> HttpResponse:
    """Show the doubt; by POST, record what happened and lead back to the task."""
    principal, row = task_reader(request, task)
    if request.method != "POST":
        return _form(request, principal, row, name, SettleForm())
    form = SettleForm(request.POST)
    if not form.is_valid():
        return _form(request, principal, row, name, form, status=422)
    given = form.cleaned_data
    try:
        who = principal.require(Right.TASKS_SETTLE)
        call_settle(workspace=who.workspace, task=row.pk, name=name, actor=who.actor, **given)
    except (Conflict, Forbidden, InvalidInput) as problem:
        return _form(request, principal, row, name, form, problem=problem)
    messages.success(request, _AGAIN if given["answer"] == "run_again" else _GOES_ON)
    return HttpResponseRedirect(reverse("task", args=[row.pk]), status=303)


@never_cache
@login_required
@require_safe
def call_live(request: HttpRequest, task: UUID, name: str) -> JsonResponse:
    """Answer with what the card's socket would send, for networks that block sockets."""
    try:
        principal, row = task_reader(request, task)
    except NotFound:  # the page knows 403 as "not any more"; unknown and forbidden are one answer here too
        raise Forbidden from None
    return polled(DoubtFeed(task=row.pk, name=name, who=lambda: principal))


@never_cache
@login_required
@require_POST
def call_look_up_page(request: HttpRequest, task: UUID, name: str) -> HttpResponse:
    """Ask a worker to look the call up once more in the outside world; what it sees appears on the card."""
    principal, row = task_reader(request, task)
    try:
        who = principal.require(Right.TASKS_SETTLE)
        look_up_ask(workspace=who.workspace, task=row.pk, name=name, actor=who.actor)
    except (Conflict, Forbidden, Unavailable) as problem:
        return _form(request, principal, row, name, SettleForm(), problem=problem)
    messages.success(request, "A worker looks it up now; what it sees appears under “What look-ups saw”.")
    return HttpResponseRedirect(reverse("call-settle", args=[row.pk, name]), status=303)


def _form(
    request: HttpRequest,
    principal: Principal,
    task: Task,
    name: str,
    form: SettleForm,
    *,
    problem: HandrailError | None = None,
    status: int = 200,
) -> HttpResponse:
    doubt = doubt_of(task=task, name=name)
    context = {
        "task": task,
        "doubt": doubt,
        "form": form,
        "problem": problem,
        "may": principal.may(Right.TASKS_SETTLE),
        "way_back": way_back(request, reverse("call-settle", args=[task.pk, name])),
    }
    if "preview" in request.GET and request.method != "POST":
        context |= {"preview": True, "head": "h2", "sub": "h3"}
        return render(request, "tasks/_doubt.html", context)
    return render(request, "tasks/settle.html", context, status=problem.status if problem else status)
