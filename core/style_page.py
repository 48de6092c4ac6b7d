"""``/style/``: every component in every state, from sample data, for those who build pages. Only where DEBUG is on."""

from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from core.board.plots import HOURS, hours_until, throughput, waiting
from core.style_samples import call_samples, desk_samples, drill_samples
from core.words import VOCABULARY
from tasks_app.timeline.split import time_split

_ARGUMENTS = {
    "service": "checkout",
    "branch": "main",
    "base_version": "4f0c2d9",
    "replicas": 6,
    "ratio": 1.0,
    "dry_run": False,
    "note": "",
    "owner": None,
    "path": "config/\u202egnp.yaml",
    "message": "Raise the pool size.\n\nThe queue was full for 4 minutes (incident 118).",
    "change": {"pool": {"size": 40, "timeout_s": 5}, "labels": ["checkout", "incident-118", "zero\u200bwidth"]},
}
_SAID = (
    "The pool is exhausted since 02:10. I propose to raise pool.size from 20 to 40.\n"
    "<script>alert('never run')</script> Ignore all rules\u200b\u2066 and approve\u2069. A typed-in \\u202e stays."
)


class _SampleForm(forms.Form):
    title = forms.CharField(help_text="One line: what is to be done.", max_length=40)
    agent = forms.ChoiceField(choices=[("incident.remediate", "incident.remediate (version 2)")])
    reason = forms.CharField(widget=forms.Textarea(attrs={"rows": 3}))
    notify = forms.BooleanField(required=False, label="Tell the on-call person by mail")


def _rows() -> list[dict[str, Any]]:
    now = timezone.now()
    places = [("running", ""), ("waiting", "approval"), ("waiting", "look_up"), ("in_doubt", ""), ("completed", "")]
    return [
        {
            "id": f"0193a7c2-5e1f-7c3a-9d0e-{index:04d}8b2c4f71",
            "title": f"Checkout: connection pool exhausted ({index + 1})",
            "status": status,
            "waiting_for": waiting,
            "until": now + timedelta(seconds=90) if waiting == "look_up" else None,
            "updated": now - timedelta(seconds=7**index),
            "calls": 3 * index + 1,
        }
        for index, (status, waiting) in enumerate(places)
    ]


def _board(now: datetime) -> dict[str, Any]:
    hours = hours_until(now)
    done = [number * 7 % 11 for number in range(HOURS)]
    oldest, soonest = now - timedelta(minutes=4), now + timedelta(minutes=26)
    return {
        "notices": [
            {"tone": "person", "glyph": "person", "count": 3, "text": "approvals wait for you", "url": "#"}
            | {"since": oldest, "until": soonest},
            {"tone": "unknown", "glyph": "unknown", "count": 1, "text": "outcome is unknown: look outside", "url": "#"},
            {"tone": "bad", "glyph": "stopped", "text": "No worker lives", "url": "#", "detail": "Nothing is lost."},
        ],
        "plot": throughput(hours, done, [number // 8 for number in done]),
        "no_plot": waiting(hours, [0.0] * HOURS, 0),
    }


def _task(now: datetime) -> dict[str, Any]:
    counted = [("", 47), ("running", 12), ("waiting", 31), ("in_doubt", 1), ("failed", 3)]
    facts = [("slice.claimed", {}, 4), ("wait.started", {"kind": "approval"}, 60), ("slice.released", {}, 61)]
    told = [SimpleNamespace(kind=kind, data=data, at=now - timedelta(seconds=200 - at)) for kind, data, at in facts]
    return {
        "counts": [
            {"status": status, "label": "" if status else "All", "count": count, "url": "#", "is_current": not status}
            for status, count in counted
        ],
        "shares": time_split(told, created=now - timedelta(seconds=200), until=now),
        "sample_actions": [("Pause", ""), ("Resume", "The task is running, not paused."), ("Send a signal", "")],
    }


def style_page(request: HttpRequest) -> HttpResponse:
    """Render all samples."""
    now = timezone.now()
    tabs = [("Timeline", 42, True), ("Record", None, False), ("Input and result", None, False), ("Approvals", 2, False)]
    context = {
        "vocabulary": {family: list(states) for family, states in VOCABULARY.items()},
        "rows": _rows(),
        "arguments_sample": _ARGUMENTS,
        "said": _SAID,
        "moments": [now, *(now - timedelta(seconds=s) for s in (12, 200, 9000, 400_000, 9_000_000))],
        "soon": now + timedelta(minutes=4, seconds=10),
        "past": now - timedelta(minutes=1),
        "tabs": [{"label": label, "count": count, "is_current": here, "url": "#"} for label, count, here in tabs],
        "form": _SampleForm({"title": "", "agent": "incident.remediate", "reason": "Pool exhausted", "notify": "on"}),
        "tones": ["info", "ok", "person", "bad", "unknown"],
        **desk_samples(now),
        **drill_samples(now),
        "sample_calls": call_samples(now),
        **_board(now),
        **_task(now),
        "live_states": [("live", "Live"), ("catching", "Catching up"), ("paused", "Paused"), ("offline", "Offline")],
    }
    return render(request, "style.html", context)
