"""Sentences of a record in templates: names and quotations are shown escaped, with what is invisible made visible."""

import json
from collections.abc import Mapping
from typing import Any

from django import template
from django.forms import Form
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from core.templatetags.handrail import brief_time, glyph, visible
from core.words import Word
from tasks_app.criteria import Criterion
from tasks_app.forms import SettleForm
from tasks_app.models import Event, Task
from tasks_app.timeline.parts import Line, Part, who
from tasks_app.timeline.story import Row
from tasks_app.timeline.waits import waits_words
from tasks_app.timeline.words import words

register = template.Library()
_NUMBER = '<a class="seq" href="{}" data-row-link><span class="unseen">Event </span>{}</a>'
_BODY = '{}{}<span class="told{}">{}<span>{}{}{}'  # its end is the template's, which may add what is kept apart
_FRAMES = {"": "{}", "name": "<code>{}</code>", "quote": '<q class="said" dir="auto">{}</q>'}


@register.filter
def sentence(line: Line) -> SafeString:
    """Write a sentence as HTML."""
    return format_html_join("", "{}", ((_part(part),) for part in line.parts))


def _part(part: Part) -> SafeString:
    text = part.text[1:-1] if part.style == "quote" else part.text  # <q> brings its own marks
    return format_html(_FRAMES[part.style], visible(text))


@register.simple_tag
def event_body(row: Row, place: str = "") -> SafeString:
    """Write the number, the time and the sentence of a row. In Python, since a page has hundreds of them."""
    now = timezone.now()
    at = brief_time(row.at, now) if row.at else mark_safe('<span class="quiet">never</span>')
    if row.seq:
        address = f"?{place}&event={row.seq}#event-{row.seq}" if place else f"?event={row.seq}#event-{row.seq}"
        number = format_html(_NUMBER, address, row.seq)
    else:
        number = mark_safe('<span class="seq" aria-hidden="true">&ndash;</span>')
    tone, drawn = f" tone-{row.line.tone}" if row.line.tone else "", glyph(row.line.glyph) if row.line.glyph else ""
    altered = mark_safe(' <span class="mark-altered">altered</span>') if row.altered else ""
    cause = format_html(' <span class="cause">{}</span>', sentence(row.cause)) if row.cause else ""
    return format_html(_BODY, number, at, tone, drawn, sentence(row.line), altered, cause)


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
