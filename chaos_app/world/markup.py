"""Markup: HTML from trees of elements. Text is always escaped; what cannot be seen is made visible."""

import html
import unicodedata
from datetime import UTC, datetime

VOID = {"meta", "link", "br"}


class Markup(str):
    """Text that is HTML already; only this module makes it."""

    __slots__ = ()


Child = Markup | str | int | None


def el(tag: str, *children: Child, **attributes: str | None) -> Markup:
    """One element. ``class_`` and ``for_`` lose their underscore, ``aria_label`` becomes ``aria-label``."""
    named = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items() if value is not None}
    inside = "".join(f' {name}="{html.escape(text_shown(value))}"' for name, value in named.items())
    if tag in VOID:
        return Markup(f"<{tag}{inside}>")
    return Markup(f"<{tag}{inside}>{joined(*children)}</{tag}>")


def joined(*children: Child) -> Markup:
    """Children one after the other; strings are escaped."""
    return Markup("".join(_child(child) for child in children if child is not None))


def text_shown(text: str) -> str:
    """Text in which invisible and direction-changing characters stand as ``[U+202E]``."""
    return "".join(_visible(char) for char in text)


def moment(at: float) -> Markup:
    """A time with its date, in UTC."""
    when = datetime.fromtimestamp(at, UTC)
    whole = when.strftime("%Y-%m-%d %H:%M:%S UTC")
    return el("time", when.strftime("%H:%M:%S"), datetime=when.isoformat(), title=whole)


def _child(child: Child) -> str:
    if isinstance(child, Markup):
        return child
    return html.escape(text_shown(str(child)))


def _visible(char: str) -> str:
    if char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp"):
        return char
    return f"[U+{ord(char):04X}]"
