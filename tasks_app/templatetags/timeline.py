"""Sentences of a record in templates: names and quotations are shown escaped, with what is invisible made visible."""

import json
from collections.abc import Mapping
from typing import Any

from django import template
from django.forms import Form
from django.template import Context
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from core.templatetags.handrail import clock_time, glyph, visible
from core.words import Word
from tasks_app.criteria import Criterion
from tasks_app.forms import SettleForm
from tasks_app.models import Event, Task
from tasks_app.timeline.kept import Kept
from tasks_app.timeline.parts import Line, Part, who
from tasks_app.timeline.story import Row
from tasks_app.timeline.waits import waits_words
from tasks_app.timeline.words import words

register = template.Library()
_NUMBER = '<a class="seq" href="{}#event-{}" data-row-link><span class="unseen">Event </span>{}</a>'
_NO_NUMBER = SafeString('<span class="seq" aria-hidden="true">&ndash;</span>')
_NEVER = SafeString('<span class="quiet">never</span>')
_ALTERED = SafeString(' <span class="mark-altered">altered</span>')
_KEPT = ' <span class="kept">{}, SHA-256 <code title="{}">{}…</code>, <a href="{}" download>read the whole</a></span>'
_TOLD, _DRAWN, _SAID, _TOLD_END = map(SafeString, ('<span class="told', '">', "<span>", "</span></span>"))
_FRAMES = {
    "name": (SafeString("<code>"), SafeString("</code>")),
    "quote": (SafeString('<q class="said" dir="auto">'), SafeString("</q>")),
}
_PLAIN = {
    "step": (SafeString("<h3>"), SafeString("</h3>")),
    "idle": (SafeString("<span>"), SafeString("</span>")),
}


@register.filter
def sentence(line: Line) -> SafeString:
    """Write a sentence as HTML."""
    written = SafeString()
    for part in line.parts:
        written += _part(part)
    return written


def _part(part: Part) -> SafeString:
    if not part.style:
        return visible(part.text)
    text = part.text[1:-1] if part.style == "quote" else part.text  # <q> brings its own marks
    before, after = _FRAMES[part.style]
    return before + visible(text) + after


@register.simple_tag(takes_context=True)
def event_row(context: Context, row: Row) -> SafeString:
    """Write a row up to what only a page adds, without its end tag. In Python, since a page has hundreds of them."""
    chosen = " selected" if row.seq and row.seq == context.get("event") else ""
    of_call = " of-call" if row.call and not row.css else ""
    start = format_html('<li id="{}" class="{}{}{}">', row.id, row.css, chosen, of_call)
    told = sentence(row.line)
    if row.css in _PLAIN:
        before, after = _PLAIN[row.css]
        return start + before + told + after
    return start + _number(row.seq, context.get("place") or "") + _time(row) + _told(row, told, context["task"])


def _number(seq: int | None, place: str) -> SafeString:
    if not seq:
        return _NO_NUMBER
    return format_html(_NUMBER, f"?{place}&event={seq}" if place else f"?event={seq}", seq, seq)


def _time(row: Row) -> SafeString:
    return clock_time(row.at, timezone.now()) if row.at else _NEVER


def _told(row: Row, told: SafeString, task: Task) -> SafeString:
    tone = format_html(" tone-{}", row.line.tone) if row.line.tone else SafeString()
    drawn = glyph(row.line.glyph) if row.line.glyph else SafeString()
    altered = _ALTERED if row.altered else SafeString()
    cause = format_html(' <span class="cause">{}</span>', sentence(row.cause)) if row.cause else SafeString()
    kept = format_html_join("", "{}", ((_kept(one, task),) for one in row.kept)) if row.kept else SafeString()
    return _TOLD + tone + _DRAWN + drawn + _SAID + told + altered + cause + kept + _TOLD_END


def _kept(kept: Kept, task: Task) -> SafeString:
    address = reverse("task-blob", args=[task.pk, kept.sha256])
    return format_html(_KEPT, filesizeformat(kept.size), kept.sha256, kept.sha256[:12], address)


@register.filter
def waits_for(task: Task) -> SafeString:
    """Say in a few words what a task waits for."""
    return sentence(waits_words(task.status, task.wait, place=task.loss_place))


@register.filter
def until(task: Task) -> object:
    """Return the time that a waiting task's status names: of a look-up or a timer, nothing else."""
    named = (task.wait or {}).get("kind") in {"look_up", "timer"}
    return task.wake_at if named else None


@register.filter
def form_of(forms: Mapping[str, Form], name: str) -> Form:
    """Return the form of one action."""
    return forms[name]


@register.filter
def plain(value: Any) -> str:
    """Return a value as text: texts as they are, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1, default=str)


@register.filter
def short(value: Any) -> str:
    """Return a value as text in as few lines as it has: JSON on one."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


@register.filter
def hexadecimal(digest: bytes) -> str:
    """Return a digest as it stands in exports."""
    return bytes(digest).hex()


@register.filter
def plainly(value: Any) -> str:
    """Return a stored value in words: a list with commas, an object as its names and values."""
    if value is None or value in ([], {}, ""):
        return "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {plainly(one)}" for name, one in value.items())
    if isinstance(value, list):
        return ", ".join(plainly(one) for one in value)
    return "yes" if value is True else "no" if value is False else short(value)


@register.filter
def criterion(stored: Mapping[str, Any]) -> str:
    """Return a criterion as a person reads it."""
    return str(Criterion.from_json(stored))


@register.filter
def budget(value: float) -> str:
    """Return an amount of a budget, with thousands apart."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


@register.filter
def told(event: Event) -> SafeString:
    """Tell an event in a sentence."""
    return sentence(words(event.kind, event.data, event.actor))


@register.filter
def person(actor: str) -> str:
    """Return an author's name."""
    return who(actor).text


@register.filter
def check_word(event: Event) -> Word:
    """Return how the result of a check is shown."""
    return Word("done", "Holds", "ok") if event.data.get("holds") else Word("failed", "Does not hold", "bad")


@register.filter
def move(do: str) -> str:
    """Return in plain words what the resume rules demand."""
    return _MOVES.get(do, str(do).replace("_", " ").capitalize())


_MOVES = {
    "send": "Send it",
    "look up": "Look it up before anything else",
    "read back": "Read the effect back, send nothing",
    "poll": "Ask how the outside work stands",
    "wait": "Wait",
    "park": "Wait for a person, send nothing",
    "adopt": "Take the effect that is there over",
    "refuse": "Record that there is no effect",
    "doubt": "Ask a person what happened",
    "verify": "Record that the effect is there",
    "void": "Withdraw it",
}


@register.filter
def answer_word(answer: str) -> str:
    """Return a person's answer about a call in doubt in the words of the form."""
    return dict(SettleForm.ANSWERS).get(answer, answer)
