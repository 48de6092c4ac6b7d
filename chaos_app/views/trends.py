"""All places over the last runs, and the cases of one place."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from chaos_app.drills.rows import BY_ID
from chaos_app.selectors.trends import Strip, trends
from chaos_app.templatetags.drills import verdict_word
from chaos_app.views.who import reader

WIDE, HIGH = 12, 22  # pixels of a mark


@never_cache
@login_required
@require_safe
def trends_page(request: HttpRequest) -> HttpResponse:
    """Show a strip a place; of one place, a strip a case."""
    row = request.GET.get("row", "")
    principal = reader(request)
    found = trends(workspace=principal.workspace, row=row if row in BY_ID else "")
    context = {
        "runs": found.runs,
        "lines": [_drawn(strip) for strip in found.strips],
        "row": BY_ID.get(row),
        "width": WIDE * max(len(found.runs), 1),
        "height": HIGH,
        "principal": principal,
    }
    return render(request, "drills/trends.html", context)


def _drawn(strip: Strip) -> dict[str, Any]:
    """Return a strip with its marks as numbers: full height is as allowed, half height and raised is not."""
    marks = [
        {"x": at * WIDE + 1, "tone": _tone(mark), "is_bad": not mark["as_allowed"]}
        for at, mark in enumerate(strip.marks)
        if mark is not None
    ]
    said = [verdict_word(mark["verdict"]).text for mark in strip.marks if mark is not None]
    return {"strip": strip, "marks": marks, "said": ", ".join(said)}


def _tone(mark: dict[str, Any]) -> str:
    return "bad" if mark["is_violation"] else verdict_word(mark["verdict"]).tone
