"""Starting a task: choose an agent, fill in what it needs, send; sent twice it is one task."""

import secrets

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from core.access import Right
from core.errors import InvalidInput, NotFound, TooLarge
from core.principal import Principal, session_principal
from tasks_app.intent_form import PREFIX, IntentForm, intent_form
from tasks_app.models import Task
from tasks_app.registry import Agent, agent_newest, agents
from tasks_app.services.create import task_create
from tasks_app.services.intake import TITLE_LIMIT
from tasks_app.services.requests import RequestKeyReused


class RequestForm(forms.Form):
    """What is the same for every agent."""

    title = forms.CharField(
        required=False,
        max_length=TITLE_LIMIT,
        label="Title of the task",
        help_text="One line for the lists; by default the agent's or the intent's own.",
    )
    request_key = forms.CharField(max_length=200, widget=forms.HiddenInput)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def task_start(request: HttpRequest) -> HttpResponse:
    """Show the agents, or one agent's form; by POST, start the task and lead to it."""
    principal = session_principal(request, slug=request.GET.get("workspace", ""))
    known = [found for name in sorted({one.name for one in agents()}) if (found := agent_newest(name))]
    chosen = request.GET.get("agent") or (known[0].name if len(known) == 1 else "")
    agent = next((one for one in known if one.name == chosen), None)
    if chosen and agent is None:
        raise NotFound(f"There is no agent {chosen!r} here.")
    if agent is None:
        return render(request, "tasks/start.html", {"agents": known, "agent": None, "principal": principal})
    made = intent_form(agent)
    if request.method == "POST":
        principal.require(Right.TASKS_CREATE)
        return _started(request, principal, agent, made(request.POST, prefix=PREFIX), RequestForm(request.POST))
    fresh = RequestForm(initial={"request_key": secrets.token_hex(16)})
    return _form(request, principal, agent, made(prefix=PREFIX), fresh)


def _started(
    request: HttpRequest, principal: Principal, agent: Agent, form: IntentForm, outer: RequestForm
) -> HttpResponse:
    if not (form.is_valid() and outer.is_valid()):
        return _form(request, principal, agent, form, outer, status=422)
    try:
        task = task_create(
            workspace=principal.workspace,
            owner=principal.user,
            actor=principal.actor,
            agent=agent.name,
            intent=form.intent(),
            title=outer.cleaned_data["title"],
            request_key=outer.cleaned_data["request_key"],
        )
    except RequestKeyReused as reused:
        return _sent_before(request, principal, agent, form, reused)
    except TooLarge as refused:
        form.add_error(None, refused.detail)
        return _form(request, principal, agent, form, outer, status=refused.status)
    except InvalidInput as refused:
        form.take(refused)
        return _form(request, principal, agent, form, outer, status=refused.status)
    messages.success(request, "The task is started. This page follows it.")
    return HttpResponseRedirect(reverse("task", args=[task.pk]), status=303)


def _sent_before(
    request: HttpRequest, principal: Principal, agent: Agent, form: IntentForm, reused: RequestKeyReused
) -> HttpResponse:
    """Say that the form was sent with other content; sending it again makes another task."""
    fresh = RequestForm(initial={"request_key": secrets.token_hex(16), "title": request.POST.get("title", "")})
    earlier = Task.objects.filter(workspace=principal.workspace, pk=reused.fields["task"]).first()
    return _form(request, principal, agent, form, fresh, status=reused.status, earlier=earlier)


def _form(
    request: HttpRequest,
    principal: Principal,
    agent: Agent,
    form: IntentForm,
    outer: RequestForm,
    *,
    status: int = 200,
    earlier: Task | None = None,
) -> HttpResponse:
    context = {
        "agent": agent,
        "form": form,
        "outer": outer,
        "earlier": earlier,
        "may": principal.may(Right.TASKS_CREATE),
        "workspace": principal.workspace,
        "principal": principal,
    }
    return render(request, "tasks/start.html", context, status=status)
