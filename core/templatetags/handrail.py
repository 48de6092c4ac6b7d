"""The components that every page shares; each renders one file of ``templates/partials``."""

import re
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from html import escape
from typing import Any

from django import template
from django.template.defaultfilters import stringfilter
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from core import moments, text, words
from core.arguments import argument_rows, argument_rows_cut
from core.glyphs import GLYPHS

register = template.Library()

# Characters of agent-supplied text that a page shows before it says how many more there are.
SHOWN_CHARACTERS = 12_000
LONG_REFERENCE = 24  # characters of an outside reference from which on only its ends are shown
# Plain characters alone, and no full stop or bracket of the sentence around it.
_ADDRESS = re.compile(r"(https?://[A-Za-z0-9._~:/?#\[\]@!$&()*+,;=%-]*[A-Za-z0-9/_=%-])")
# Without data-relative: the browser leaves it as it is.
_CLOCK = '<time class="time" datetime="{}" title="{}">{}</time>'


@register.filter
def visible(value: object) -> SafeString:
    """Escape text for HTML and mark every invisible or direction-changing character as an escape."""
    given = str(value)
    if text.is_plain(given):  # there is nothing to mark
        return SafeString(escape(given))
    parts = (("escape" if run.escaped else "", run.text) for run in text.runs(given))
    return format_html_join("", "{}", ((_run(css, part),) for css, part in parts))


@register.filter
def linked(value: object) -> SafeString:
    """Show text as ``visible`` does, with its web addresses as links. For what a deployment wrote, never an agent."""
    parts = _ADDRESS.split(str(value))  # every second part is an address
    return format_html_join("", "{}", ((_link(part) if at % 2 else visible(part),) for at, part in enumerate(parts)))


def _link(address: str) -> SafeString:
    return format_html('<a href="{}" rel="noopener noreferrer">{}</a>', address, address)


@register.simple_tag
def clock_time(moment: datetime, now: datetime | None = None) -> SafeString:
    """Show a moment by the clock, in UTC: what happened within a second is told apart. Another day's with its date."""
    # Figures of our own: nothing in them needs an escape. No template of its own: a timeline shows hundreds.
    machine = moments.machine(moment)
    day, second, clock = machine[:10], machine[11:19], machine[11:23]
    shown = clock if day == moments.machine(now or timezone.now())[:10] else f"{day} {clock}"
    return SafeString(_CLOCK.format(machine, f"{day} {second} UTC", shown))


def _run(css: str, part: str) -> SafeString:
    return format_html('<span class="{}">{}</span>', css, part) if css else format_html("{}", part)


@register.filter
def visible_text(value: object) -> str:
    """Return text with escapes but without markup, for attributes and titles."""
    return text.visible(str(value))


@register.filter(is_safe=True)
@stringfilter
def sentence_case(title: str) -> str:
    """Return a title of a library's page as this site writes titles: only the first word begins with a capital."""
    first, _, rest = " ".join(title.split()).partition(" ")
    small = " ".join(word.lower() if word.istitle() else word for word in rest.split())
    return f"{first.capitalize() if first.istitle() else first} {small}".strip()


@register.filter
def duration(seconds: float) -> str:
    """Return a length of time in words, from seconds."""
    return moments.duration(float(seconds))


@register.simple_tag
@cache
def glyph(name: str) -> SafeString:
    """Draw a glyph; it is decoration, the word beside it carries the meaning."""
    return format_html(
        '<svg class="glyph" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d="{}"/></svg>',
        GLYPHS[name],
    )


@register.inclusion_tag("partials/status.html")
def status(
    state: str,
    of: str = "task",
    waiting_for: str = "",
    until: datetime | None = None,
    losses: int = 3,
    why: str = "",
) -> dict[str, Any]:
    """Show a state as glyph, word and colour. ``of`` names the vocabulary (``core.words``); ``why``: what ended it."""
    if of == "task":
        return {"word": words.task_word(state, waiting_for=waiting_for, until=until, losses=losses)}
    if of == "approval":
        return {"word": words.approval_word(state, why=why)}
    return {"word": words.word(of, state)}


@register.simple_tag
def when(moment: datetime | None, both: bool = False) -> SafeString:
    """Show a moment: relative with the absolute at hand, or ``both`` side by side; a sentence goes on at once."""
    shown: dict[str, Any] = {"moment": None}
    if moment is not None:
        shown = _moment(moment) | {"relative": moments.relative(moment, timezone.now()), "both": both}
    # The template's last line break would stand as a space before a full stop.
    return mark_safe(render_to_string("partials/time.html", shown).rstrip())  # noqa: S308 - rendered, so escaped


def _moment(moment: datetime) -> dict[str, Any]:
    return {"moment": moment, "machine": moments.machine(moment), "absolute": moments.absolute(moment)}


@register.inclusion_tag("partials/countdown.html")
def countdown(until: datetime, label: str = "") -> dict[str, Any]:
    """Show the time that is left until a deadline; the browser keeps it running, the server decides."""
    left = (until - timezone.now()).total_seconds()
    return _moment(until) | {"label": label, "over": left <= 0, "left": moments.duration(max(0.0, left))}


@register.inclusion_tag("partials/id.html")
def ident(value: object, short: bool = False, label: str = "id") -> dict[str, Any]:
    """Show an id in monospace with a copy button; ``short`` shows its last eight characters."""
    whole = str(value)
    return {"whole": whole, "shown": f"…{whole[-8:]}" if short and len(whole) > 12 else whole, "label": label}


@register.inclusion_tag("partials/id.html")
def reference(value: object) -> dict[str, Any]:
    """Show an outside reference: whole where it is as short as a ticket's number, the ends of a long one."""
    whole = str(value)
    shown = f"{whole[:8]}…{whole[-8:]}" if len(whole) > LONG_REFERENCE else whole
    return {"whole": whole, "shown": shown, "label": "reference"}


@register.inclusion_tag("partials/agent_text.html")
def agent_text(value: object, label: str = "Agent-supplied", limit: int = SHOWN_CHARACTERS) -> dict[str, Any]:
    """Frame text that an agent or tool supplied: labelled, escaped, inert, cut after ``limit`` characters."""
    shown, hidden = text.clip(str(value), limit)
    return {"text": shown, "hidden": hidden, "label": label}


@register.inclusion_tag("partials/arguments.html")
def arguments(
    value: Mapping[str, Any], caption: str = "Arguments", head: str = "Argument", whole: str = ""
) -> dict[str, Any]:
    """Show every argument of a call, whole; of another object, whose names are no arguments, with another ``head``.

    ``whole``: the address at which all can be read, where this page shows ``SHOWN_CHARACTERS`` of them.
    """
    rows, hidden = argument_rows_cut(value, SHOWN_CHARACTERS) if whole else (argument_rows(value), "")
    return {"rows": rows, "caption": caption, "head": head, "hidden": hidden, "whole": whole}
