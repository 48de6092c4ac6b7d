"""Pausing, resuming or cancelling many tasks: those that were selected, or all that a filter leaves; each is listed."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from core.access import Right
from core.errors import HandrailError, NotFound
from core.principal import Principal, session_principal
from tasks_app.filter_query import filter_kept, filter_query, filter_read
from tasks_app.forms import ReasonForm
from tasks_app.models import Task
from tasks_app.selectors.task_rows import rows_again
from tasks_app.selectors.tasks import tasks_filtered
from tasks_app.services.steer import PAUSABLE, RESUMABLE
from tasks_app.services.together import MOST, Told, tasks_command
from tasks_app.status import TERMINAL, Status
from tasks_app.views.counts import list_url

LISTED = 50  # rows that are shown before; of the rest the number is said


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def tasks_together(request: HttpRequest) -> HttpResponse:
    """List the tasks that are meant; by POST, send the command to each, and say of each what became of it."""
    given = request.POST if request.method == "POST" else request.GET
    principal = session_principal(request, slug=given.get("workspace", "")).require(Right.TASKS_READ)
    ids, query = _meant(principal, given)
    if request.method != "POST" or not ids:
        return _page(request, principal, ids, query)
    form = ReasonForm(request.POST)
    try:
        done = tasks_command(
            principal=principal, tasks=ids, command=given.get("command", ""), reason=form.data.get("reason", "")
        )
    except HandrailError as problem:
        return _page(request, principal, ids, query, form=form, problem=problem)
    return _page(request, principal, ids, query, done=done)


def _meant(principal: Principal, given: QueryDict) -> tuple[list[UUID], dict[str, str]]:
    """Return the selected tasks; without a selection all that the filter leaves, as far as one request takes them.

    What was shown is what is sent: the page posts ids, so that a newcomer is never among them.
    """
    try:
        ids = list(dict.fromkeys(UUID(one) for one in given.getlist("id")))
    except ValueError:
        raise NotFound from None
    if ids:
        return ids[:MOST], {}
    filters, _ = filter_read(given)
    if not (query := filter_query(filters)):
        return [], {}
    found = tasks_filtered(workspace=principal.workspace, filters=filters).exclude(status__in=sorted(TERMINAL))
    return list(found.order_by("-pk").values_list("pk", flat=True)[:MOST]), query


def _page(
    request: HttpRequest,
    principal: Principal,
    ids: list[UUID],
    query: dict[str, str],
    *,
    form: ReasonForm | None = None,
    problem: HandrailError | None = None,
    done: list[Told] | None = None,
) -> HttpResponse:
    kept = filter_kept(request.POST if request.method == "POST" else request.GET, principal)
    rows = rows_again(workspace=principal.workspace, ids=ids)
    told = {one.task: one for one in done or ()}
    entries = [{"row": row, "told": told.get(row.pk)} for row in rows]
    context: dict[str, Any] = {
        "entries": entries if done else entries[:LISTED],
        "more": 0 if done else max(0, len(entries) - LISTED),
        "ids": [row.pk for row in rows],
        "most": MOST if len(rows) == MOST else 0,
        "by_filter": query,
        "back": list_url(kept),
        "is_narrowed": kept != principal.kept,
        "workspace": principal.workspace,
        "principal": principal,
        "commands": _commands(rows, principal),
        "done": done,
        "refused": sum(1 for one in done or () if one.refusal),
        "problem": problem,
        "form": form or ReasonForm(),
    }
    return render(request, "tasks/together.html", context, status=problem.status if problem else 200)


def _commands(rows: list[Task], principal: Principal) -> list[Mapping[str, Any]]:
    """Return the commands, each with how many of the tasks can take it now."""
    if not principal.may(Right.TASKS_OPERATE):
        return []
    statuses = [Status(row.status) for row in rows]
    ended = TERMINAL | {Status.CANCELLING}
    can = {
        "pause": sum(status in PAUSABLE for status in statuses),
        "resume": sum(status in RESUMABLE for status in statuses),
        "cancel": sum(status not in ended for status in statuses),
    }
    labels = {"pause": "Pause", "resume": "Resume", "cancel": "Cancel"}
    return [{"name": name, "label": labels[name], "count": count} for name, count in can.items()]
