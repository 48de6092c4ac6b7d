"""The page of one task: its head, and one of its tabs."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from core.access import Right
from core.arguments import in_order
from core.errors import HandrailError, InvalidInput, NotFound
from core.places import way_back
from core.principal import Principal
from tasks_app.forms import fresh_forms
from tasks_app.models import Event, Task
from tasks_app.registry import agent_find
from tasks_app.runtime.recorded import data_whole
from tasks_app.selectors.asked import approvals_asked
from tasks_app.selectors.brief import resume_brief
from tasks_app.selectors.events import events_window
from tasks_app.selectors.seen import difference, seen_at, selections
from tasks_app.selectors.split import task_split
from tasks_app.selectors.task_card import task_card
from tasks_app.timeline.address import event_address
from tasks_app.timeline.detail import event_detail
from tasks_app.timeline.window import event_at, failure_after, timeline_window
from tasks_app.views.who import number, task_reader

RECORD_ROWS = 100
TABS = {
    "timeline": "Timeline",
    "seen": "What the model saw",
    "record": "Record",
    "input": "Input and result",
    "approvals": "Approvals",
    "brief": "Resume brief",
}


@never_cache
@login_required
@require_safe
def task_page(request: HttpRequest, task: UUID) -> HttpResponse:
    """Show a task."""
    principal, row = task_reader(request, task)
    if request.GET.get("find") == "failure":
        return _jump(row, number(request, "from") or 0)
    if request.GET.get("time"):
        return HttpResponseRedirect(event_address(row.pk, event_at(task=row, moment=_moment(request.GET["time"]))))
    return page_of(request, principal, row)


def page_of(
    request: HttpRequest, principal: Principal, task: Task, *, problem: HandrailError | None = None, **more: Any
) -> HttpResponse:
    """Render the page of a task; ``problem`` is a refusal to show on it, with its status."""
    tab = request.GET.get("tab", "timeline")
    if tab not in TABS:
        raise NotFound
    context = {
        "task": task,
        "principal": principal,
        "card": task_card(task=task, principal=principal),
        "shares": task_split(task),
        "forms": fresh_forms(),
        "problem": problem,
        "tab": tab,
        "tabs": _tabs(task, tab),
        "may_export": principal.may(Right.RECORD_EXPORT),
        "may_drill": principal.may(Right.DRILLS_RUN),
        "way_back": way_back(request, reverse("task", args=[task.pk])),
        **_TABS[tab](request, task),
        **more,
    }
    return render(request, f"tasks/{tab}.html", context, status=problem.status if problem else 200)


def _tabs(task: Task, here: str) -> list[dict[str, Any]]:
    url = reverse("task", args=[task.pk])
    return [
        {
            "url": url if name == "timeline" else f"{url}?tab={name}",
            "label": label,
            "count": task.head_seq if name == "record" else None,
            "count_id": "record-count" if name == "record" else "",
            "is_current": name == here,
        }
        for name, label in TABS.items()
    ]


def _moment(given: str) -> datetime:
    """Return a moment from the address, in UTC. Raises NotFound for what is none."""
    try:
        return datetime.fromisoformat(given).replace(tzinfo=UTC)
    except ValueError:
        raise NotFound from None


def _jump(task: Task, seq: int) -> HttpResponse:
    return HttpResponseRedirect(event_address(task.pk, failure_after(task=task, seq=seq)))


def _timeline(request: HttpRequest, task: Task) -> dict[str, Any]:
    event, before, after = number(request, "event"), number(request, "before"), number(request, "after")
    at = number(request, "at") or (event if before is None and after is None else None)
    newest = at is None or at > task.head_seq - 100
    window = timeline_window(task=task, before=before, after=after, at=None if newest else at)
    detail = event_detail(task=task, seq=event) if event else None
    place = {name: value for name, value in (("before", before), ("after", after)) if value is not None}
    return {
        "window": window,
        "detail": detail,
        "event": event,
        "place": urlencode(place),
        "here": event or at or 0,
        "older": window.first if window.first > 1 else 0,
        "newer": 0 if window.is_tail else window.last,
    }


def _input(request: HttpRequest, task: Task) -> dict[str, Any]:
    claimed = task_result(task)
    agent = agent_find(task.agent, task.agent_version)
    intent = in_order(task.intent, agent.intent.model_fields if agent and agent.intent else ())
    return {"claimed": claimed, "has_ended": task.ended_at is not None, "intent": intent}


def task_result(task: Task) -> dict[str, Any] | None:
    """Return what the agent said when it claimed to be done, last; None before."""
    last = Event.objects.filter(stream=task.pk, kind="task.claimed_complete").order_by("-seq").first()
    if last is None:
        return None
    data = data_whole(task.pk, last.data)
    checks = Event.objects.filter(stream=task.pk, kind="evidence.observed", seq__gt=last.seq).order_by("-seq")[:200]
    newest: dict[str, Any] = {}
    for event in checks:
        newest.setdefault(str(event.data.get("criterion")), event)
    return {"event": last, "summary": data.get("summary", ""), "checks": list(newest.values())[::-1]}


def _brief(request: HttpRequest, task: Task) -> dict[str, Any]:
    at = number(request, "at")
    try:
        return {"brief": resume_brief(task=task, at=at), "at": at}
    except InvalidInput as refused:
        return {"brief": resume_brief(task=task), "at": None, "problem": refused}


def _record(request: HttpRequest, task: Task) -> dict[str, Any]:
    before, after = number(request, "before"), number(request, "after")
    if before is None and after is None:
        before = task.head_seq + 1
    window = events_window(task=task, before=before, after=after, limit=RECORD_ROWS)
    first = window.events[0].seq if window.events else 0
    last = window.events[-1].seq if window.events else 0
    return {
        "events": window.events,
        "older": first if first > 1 else 0,
        "newer": last if last < window.head_seq else 0,
    }


def _seen(request: HttpRequest, task: Task) -> dict[str, Any]:
    """Show one selection, and how it differs from another: by default the last one, and the one before it."""
    listed = selections(task)
    if not listed:
        return {"selections": []}
    last = listed[-1].seq
    at, against = number(request, "at") or last, number(request, "against")
    if against is None:
        against = max((one.seq for one in listed if one.seq < at), default=0)
    shown = seen_at(task=task, seq=at)
    other = seen_at(task=task, seq=against) if against and against != at else None
    pair = sorted((shown, other), key=lambda one: one.event.seq) if other else None
    return {
        "selections": listed,
        "shown": shown,
        "other": other,
        "lines": difference(*pair) if pair else [],
        "taken_over": bool(other and other.event.epoch != shown.event.epoch),
    }


def _approvals(request: HttpRequest, task: Task) -> dict[str, Any]:
    return {"asked": approvals_asked(task)}


_TABS = {
    "timeline": _timeline,
    "seen": _seen,
    "input": _input,
    "approvals": _approvals,
    "brief": _brief,
    "record": _record,
}
