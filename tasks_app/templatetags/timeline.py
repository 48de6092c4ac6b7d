"""Sentences of a record in templates: names and quotations are shown escaped, with what is invisible made visible."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django import template
from django.forms import Form
from django.template import Context
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils import timezone
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString

from core.json_text import json_shown
from core.templatetags.handrail import clock_time, glyph, visible
from core.words import Word
from tasks_app.criteria import Criterion
from tasks_app.forms import SettleForm
from tasks_app.models import Event, Task
from tasks_app.timeline.address import event_address
from tasks_app.timeline.kept import Kept
from tasks_app.timeline.parts import Line, Part, who
from tasks_app.timeline.story import Row
from tasks_app.timeline.waits import waits_words
from tasks_app.timeline.words import words

register = template.Library()
register.simple_tag(event_address)
_NUMBER = '<a class="seq" href="{}{}#event-{}" data-row-link><span class="unseen">Event </span>{}</a>'
_NO_NUMBER = '<span class="seq" aria-hidden="true">&ndash;</span>'
_NEVER = '<span class="quiet">never</span>'
_ALTERED = ' <span class="mark-altered">altered</span>'
_KEPT = ' <span class="kept">{}, SHA-256 <code title="{}">{}…</code>, <a href="{}" download>read the whole</a></span>'
_FRAMES = {"name": ("<code>", "</code>"), "quote": ('<q class="said" dir="auto">', "</q>")}
_PLAIN = {"step": ("<h3>", "</h3>"), "idle": ("<span>", "</span>")}


@register.filter
def sentence(line: Line) -> SafeString:
    """Write a sentence as HTML."""
    return SafeString("".join(map(_part, line.parts)))


def _part(part: Part) -> str:
    if not part.style:
        return visible(part.text)
    text = part.text[1:-1] if part.style == "quote" else part.text  # <q> brings its own marks
    before, after = _FRAMES[part.style]
    return f"{before}{visible(text)}{after}"


@register.simple_tag(takes_context=True)
def event_row(context: Context, row: Row) -> SafeString:
    """Write a row up to what only a page adds, without its end tag."""
    return SafeString(_row(context, row, timezone.now()))


@register.simple_tag(takes_context=True)
def event_rows(context: Context, rows: Iterable[Row]) -> SafeString:
    """Write rows as ``tasks/_event.html`` does, in Python: a page has hundreds, and few of them have more to show."""
    now, event = timezone.now(), context.get("event")
    pins = bool(context.get("may_drill") and context.get("csrf_token"))
    more = context.template.engine.get_template("tasks/_event_more.html") if context.template else None
    written = []
    for row in rows:
        written.append(_row(context, row, now))
        if more and ((row.lost and pins) or (row.seq and row.seq == event)):
            with context.push(row=row):
                written.append(more.render(context))
        written.append("</li>\n")
    return SafeString("".join(written))


def _row(context: Context, row: Row, now: datetime) -> str:
    """Write the row; ids, classes and times are our own, everything else goes through ``visible``."""
    chosen = " selected" if row.seq and row.seq == context.get("event") else ""
    of_call = " of-call" if row.call and not row.css else ""
    start = f'<li id="{row.id}" class="{row.css}{chosen}{of_call}">'
    told = sentence(row.line)
    if row.css in _PLAIN:
        before, after = _PLAIN[row.css]
        return f"{start}{before}{told}{after}"
    at = clock_time(row.at, now) if row.at else _NEVER
    return f"{start}{_number(row.seq, context)}{at}{_told(row, told, context)}"


def _number(seq: int | None, context: Context) -> str:
    if not seq:
        return _NO_NUMBER
    place = context.get("place") or ""
    return _NUMBER.format(conditional_escape(f"?{place}&event=" if place else "?event="), seq, seq, seq)


def _told(row: Row, told: str, context: Context) -> str:
    tone = f" tone-{row.line.tone}" if row.line.tone else ""
    drawn = glyph(row.line.glyph) if row.line.glyph else ""
    altered = _ALTERED if row.altered else ""
    cause = f' <span class="cause">{sentence(row.cause)}</span>' if row.cause else ""
    kept = "".join(_kept(one, context["task"]) for one in row.kept)
    return f'<span class="told{tone}">{drawn}<span>{told}{altered}{cause}{kept}</span></span>'


def _kept(kept: Kept, task: Task) -> str:
    address = reverse("task-blob", args=[task.pk, kept.sha256])
    return format_html(_KEPT, filesizeformat(kept.size), kept.sha256, kept.sha256[:12], address)


@register.filter
def waits_for(task: Task) -> SafeString:
    """Say in a few words what a task waits for, or why it failed where its list says so."""
    why = getattr(task, "failed_because", None)
    return sentence(waits_words(task.status, task.wait, place=task.loss_place, why=why))


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
    return value if isinstance(value, str) else json_shown(value, indent=1)


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
def criterion(stored: Mapping[str, Any], intent: Any = None) -> str:
    """Return a criterion as a person reads it, with the values that a task's intent gives it."""
    found = Criterion.from_json(stored)
    return str(found if intent is None else found.filled(intent))


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
    "withdraw": "Withdraw it",
}


@register.filter
def answer_word(answer: str) -> str:
    """Return a person's answer about a call in doubt in the words of the form."""
    return dict(SettleForm.ANSWERS).get(answer, answer)
