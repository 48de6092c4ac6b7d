"""The audit: who changed what, whether the chain is whole, and the stream as a file that anybody can check."""

from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from core.access import Right
from core.board.forms import TrailForm
from core.board.trail import TrailFilter, administration, chain, doings
from core.downloads import download
from core.errors import NotFound
from core.places import place_url
from core.principal import Principal, session_principal
from tasks_app.record.export import export_lines, export_name, stream_head
from tasks_app.views.who import number

TABS = {"administration": "Administration", "tasks": "What people did to tasks"}
AT_ONCE = 500  # events, a few milliseconds
READS = {"administration": administration, "tasks": doings}


@never_cache
@login_required
@require_safe
def audit_page(request: HttpRequest) -> HttpResponse:
    """Show one page of the trail. A short chain is checked whole on each visit, a longer one with ``check=1``."""
    principal = _auditor(request)
    tab = request.GET.get("tab", "administration")
    if tab not in TABS:
        raise NotFound
    form = TrailForm(request.GET)
    form.is_valid()
    given = {name: value for name, value in form.cleaned_data.items() if value}
    before = number(request, "before")
    page = READS[tab](workspace=principal.workspace, filters=TrailFilter(**given), before=before)
    kept = {name: request.GET[name] for name in ("tab", *given) if request.GET.get(name)} | principal.kept
    checked = request.GET.get("check") == "1" or principal.workspace.head_seq <= AT_ONCE
    context: dict[str, Any] = {
        "tab": tab,
        "tabs": [_tab(principal, name, label, tab) for name, label in TABS.items()],
        "entries": page.entries,
        "form": form,
        "filters": TrailFilter(**given),
        "is_filtered": bool(given),
        "workspace": principal.workspace,
        "principal": principal,
        "may_export": principal.may(Right.RECORD_EXPORT),
        "checked": checked,
        "chain": chain(workspace=principal.workspace) if checked else None,
        "head_digest": bytes(principal.workspace.head_digest).hex(),
        "next_url": f"?{urlencode({**kept, 'before': page.older})}" if page.older else "",
        "first_url": f"?{urlencode(kept)}" if before else "",
    }
    return render(request, "board/audit.html", context)


@never_cache
@login_required
@require_safe
def audit_file(request: HttpRequest) -> StreamingHttpResponse:
    """Send the administration stream with its digests."""
    principal = _auditor(request).require(Right.RECORD_EXPORT)
    head = stream_head(principal.workspace.pk)
    return download(request, name=export_name(head), lines=export_lines(head))


def _auditor(request: HttpRequest) -> Principal:
    return session_principal(request, slug=request.GET.get("workspace", "")).require(Right.AUDIT_READ)


def _tab(principal: Principal, name: str, label: str, here: str) -> dict[str, Any]:
    url = place_url(principal, "audit", **({"tab": name} if name != "administration" else {}))
    return {"url": url, "label": label, "count": None, "is_current": name == here}
