"""The desk: shelves, groups, a list with a preview beside it."""

from functools import partial
from typing import Any, cast
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from approvals_app.forms import GroupForm
from approvals_app.live.desk_feed import DeskFeed, desk_query, desk_url, tabs
from approvals_app.live.looking import looking_html, others_now
from approvals_app.live.waiting import waiting_html
from approvals_app.models import ApprovalRequest
from approvals_app.rights import workspaces_of
from approvals_app.selectors.desk import WAITING, DeskPage, Kind, Tab, desk_page
from approvals_app.selectors.doubts import doubts_part
from approvals_app.selectors.places import Place
from approvals_app.selectors.waiting import approvals_waiting_count
from approvals_app.services.presented import approval_opened, approvals_presented
from approvals_app.views.card import card_context
from approvals_app.views.who import card_principal, narrowed, place, tab_of
from core.access import Right
from core.errors import NotFound
from core.principal import session_principal
from core.step_up import stepped_up_at
from tasks_app.forms import SettleForm
from tasks_app.live.polled import feed_of, polled
from tasks_app.models import Call
from tasks_app.selectors.doubt import doubt_of
from tasks_app.selectors.stops import stops_in
from tasks_app.views.who import number


@never_cache
@login_required
@require_safe
def desk(request: HttpRequest) -> HttpResponse:
    """Show one shelf over all workspaces that the person may see; the badge counts over the same."""
    user = session_principal(request).user
    tab, kind = tab_of(request.GET.dict()), narrowed(request)
    workspaces = workspaces_of(user=user, right=Right.APPROVALS_READ)
    after = number(request, "after") if tab == Tab.DOUBT else place(request, "after", workspaces)
    onward: Place | int | None
    if isinstance(after, int) or tab == Tab.DOUBT:
        page = DeskPage(groups=[], rows=[], end=None)
        calls, onward = doubts_part(workspaces=workspaces, after=cast(int | None, after))
    else:
        page, calls = desk_page(user=user, tab=tab, kind=kind, after=after), []
        onward = page.end
    approvals_presented(approvals=[row.pk for row in page.rows], user=user)
    context = {
        "tab": tab.value,
        "tabs": tabs(user, tab),
        "waits": tab in WAITING,
        "kind": kind,
        "entries": page.entries,
        "shown": len(page.entries) or len(calls),
        "calls": calls,
        "back": desk_url(tab),
        "next_url": f"{desk_url(tab, kind)}&after={onward}" if onward else "",
        "previous_url": desk_url(tab, kind) if after else "",
        "many": len(workspaces) > 1,
        "live": desk_query(tab=tab, kind=kind, page=page, calls=calls, first=after is None),
        "stops": stops_in(workspaces=workspaces),
        "row_query": f"?shelf={tab.value}" + (f"&{kind.query}" if kind else ""),
        **_others(user, tab, page),
        **_group(request, page, kind),
        **(_doubt(request, calls) if calls else _preview(request, page)),
    }
    return render(request, "approvals/desk.html", context)


@never_cache
@login_required
@require_safe
def desk_live(request: HttpRequest) -> HttpResponse:
    """Return what the socket of the same page would send, for networks that block sockets."""
    user = session_principal(request).user
    count = approvals_waiting_count(user=user)
    feed = feed_of(request, partial(DeskFeed.of, stepped_up_at=lambda: stepped_up_at(request)), user)
    beside = feed.beside.approval if feed.beside else None
    return polled(feed, frame=waiting_html(count) + _looking(request, beside), waiting=count)


def _looking(request: HttpRequest, approval: UUID | None) -> str:
    """Return who else looks at the card beside the list, for who may read it."""
    if approval is None:
        return ""
    try:
        user = card_principal(request, approval).user
    except NotFound:
        return ""
    approval_opened(approval=approval, user=user)
    return looking_html(approval, others_now(approval=approval, user=user))


def _others(user: User, tab: Tab, page: DeskPage) -> dict[str, Any]:
    """Return how many wait for others, where nothing waits for this person."""
    if tab != Tab.MINE or page.entries:
        return {}
    team = next(one["count"] for one in tabs(user, Tab.MINE) if one["label"] == "Team")
    return {"others": team, "team_url": desk_url(Tab.TEAM)}


def _group(request: HttpRequest, page: DeskPage, kind: Kind | None) -> dict[str, Any]:
    """Return what the act on an opened group needs: "deny all and pause this agent" is of one workspace."""
    slugs = {row.workspace.slug for row in page.rows}
    if kind is None or len(slugs) != 1:
        return {}
    slug = slugs.pop()
    principal = session_principal(request, slug=slug)
    may = principal.may(Right.APPROVALS_DECIDE) and principal.may(Right.STOPS_SET)
    return {"may_stop": may, "group_workspace": slug, "group_form": GroupForm(auto_id="group-%s")}


def _preview(request: HttpRequest, page: DeskPage) -> dict[str, Any]:
    """Return the card that is shown beside the list: the one in the address, else the first of the list."""
    asked = request.GET.get("open", "")
    rows = {str(entry.pk): entry for entry in page.entries if isinstance(entry, ApprovalRequest)}
    chosen = rows.get(asked) or next(iter(rows.values()), None)
    if chosen is None:
        return {}
    # Whether it is before anybody is for the page to say: on a narrow screen it is not shown.
    return card_context(card_principal(request, chosen.pk), chosen.pk) | {"opened": chosen.pk, "preview": True}


def _doubt(request: HttpRequest, calls: list[Call]) -> dict[str, Any]:
    """Return the call in doubt that is shown beside the list."""
    asked = request.GET.get("open", "")
    chosen = next((call for call in calls if f"doubt-{call.pk}" == asked), calls[0])
    principal = session_principal(request, slug=chosen.workspace.slug)
    return {
        "doubt": doubt_of(task=chosen.task, name=chosen.name),
        "task": chosen.task,
        "form": SettleForm(),
        "may": principal.may(Right.TASKS_SETTLE),
        "opened": chosen.pk,
        "preview": True,
    }
