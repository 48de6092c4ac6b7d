"""What a sentence is made of: our words, names that agents chose, text that others said. Pure: no Django."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

NAME_SHOWN = 80  # characters of a name in a sentence
QUOTE_SHOWN = 200  # characters of foreign text in a sentence; the whole is on the event's own panel
BLOB = "$blob"


@dataclass(frozen=True, slots=True)
class Part:
    """One stretch of a sentence. ``style``: "" (our words), "name" or "quote" (foreign: shown escaped)."""

    text: str
    style: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A sentence; ``tone`` is a colour role (see ``core.words``), "" for plain; ``glyph`` stands before it."""

    parts: tuple[Part, ...]
    tone: str = ""
    glyph: str = ""

    def __str__(self) -> str:
        return "".join(part.text for part in self.parts)


def line(*parts: Part | str, tone: str = "", glyph: str = "") -> Line:
    """Return a sentence of parts and plain words; empty ones are left out."""
    made = (Part(part) if isinstance(part, str) else part for part in parts)
    return Line(parts=tuple(part for part in made if part.text), tone=tone, glyph=glyph)


def name(value: object) -> Part:
    """Return a name as it stands in a sentence."""
    return Part(_cut(_text(value), NAME_SHOWN) or "?", "name")


def names(value: object) -> Part:
    """Return a list of names, or one."""
    many = value if isinstance(value, list) else [value]
    return Part(_cut(", ".join(_text(item) for item in many), QUOTE_SHOWN) or "?", "name")


def quote(value: object, *, before: str = ": ") -> tuple[Part, ...]:
    """Return what somebody said, in quotation marks, after ``before``; nothing where nothing was said."""
    text = _cut(" ".join(_text(value).split()), QUOTE_SHOWN)
    return (Part(before), Part(f"“{text}”", "quote")) if text else ()


def who(actor: str) -> Part:
    """Return an author's name in plain words."""
    kind, _, rest = actor.partition(":")
    match kind:
        case "agent-token":
            return Part(f"The program {rest}", "name")
        case "keeper":
            return Part(f"The keeper of {rest}", "name")
        case "sweeper":
            return Part("The sweeper")
        case "system":
            return Part("Handrail")
        case _:
            return Part(rest or kind, "name")


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _text(value: object) -> str:
    """Return a value as text; of one that is kept apart, its beginning."""
    if value is None:
        return ""
    if isinstance(value, Mapping) and isinstance(value.get(BLOB), Mapping):
        return f"{value[BLOB].get('head', '')}…"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={_text(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return str(value)


def reason_of(error: Any) -> object:
    """Return the sentence in an error that a tool gave."""
    return error.get("reason", error) if isinstance(error, Mapping) else error
