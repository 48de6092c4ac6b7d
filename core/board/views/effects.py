"""Effects: who touched what, and when."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from core.board.effects import KINDS, EffectFilter, effects, tools_used
from core.board.forms import EffectForm
from core.clock import database_now
from tasks_app.views.who import number, workspace_reader


@never_cache
@login_required
@require_safe
def effects_page(request: HttpRequest) -> HttpResponse:
    """Show one page of effects; a field that does not fit is said beside it, and narrows nothing."""
    principal = workspace_reader(request)
    form = EffectForm(request.GET)
    form.is_valid()
    given = {name: value for name, value in form.cleaned_data.items() if value}
    before, after = number(request, "before"), number(request, "after")
    filters = EffectFilter(**given)
    page = effects(workspace=principal.workspace, filters=filters, before=before, after=after)
    kept = {name: request.GET[name] for name in given if request.GET.get(name)} | principal.kept
    context: dict[str, Any] = {
        "rows": page.rows,
        "form": form,
        "filters": filters,
        "is_filtered": bool(given),
        "tabs": _tabs(kept, filters.kind),
        "spans": _spans(kept),
        "tools": tools_used(workspace=principal.workspace),
        "workspace": principal.workspace,
        "principal": principal,
        "previous_url": f"?{urlencode({**kept, 'after': page.newer})}" if page.newer else "",
        "next_url": f"?{urlencode({**kept, 'before': page.older})}" if page.older else "",
    }
    return render(request, "board/effects.html", context)


def _spans(kept: dict[str, str]) -> list[dict[str, Any]]:
    """Return the times that are asked for most, as links that keep what else is filtered by."""
    now = database_now()
    begins = {"Last hour": now - timedelta(hours=1), "Last day": now - timedelta(days=1)}
    others = {name: value for name, value in kept.items() if name not in {"since", "until"}}
    made = ((label, f"{at:%Y-%m-%dT%H:%M}") for label, at in begins.items())
    return [
        {"label": label, "url": f"?{urlencode({**others, 'since': at})}", "is_current": kept.get("since") == at}
        for label, at in made
    ]


def _tabs(kept: dict[str, str], here: str) -> list[dict[str, Any]]:
    others = {name: value for name, value in kept.items() if name != "kind"}
    named = {"": "All", **{name: said for name, (said, _) in KINDS.items()}}
    url = reverse("effects")
    return [
        {
            "url": f"{url}?{urlencode({**others, **({'kind': name} if name else {})})}",
            "label": label,
            "count": None,
            "is_current": name == here,
        }
        for name, label in named.items()
    ]
