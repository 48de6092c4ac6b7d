"""The arguments of a call as rows that a person can read, each value whole and with its kind."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from core import text
from core.json_text import json_shown


@dataclass(frozen=True)
class ArgumentRow:
    """One argument: its name, the kind of its value in plain words, and the value as text."""

    name: str
    kind: str
    text: str

    @property
    def is_block(self) -> bool:
        """Whether the value needs lines of its own."""
        return "\n" in self.text or len(self.text) > 80

    @property
    def is_empty_text(self) -> bool:
        """Whether the value is a text without any character (which a reader would otherwise not see)."""
        return self.kind == "text" and not self.text


def _kind(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "yes or no"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "text"
    return "object" if isinstance(value, Mapping) else "list"


def _text(value: object) -> str:
    # Numbers keep the spelling of JSON, so that 1.0 and 1 stay apart; text is shown without quotes, its kind says so.
    return value if isinstance(value, str) else json_shown(value, indent=2)


def in_order(arguments: Mapping[str, Any], fields: Iterable[str]) -> dict[str, Any]:
    """Return the same arguments in the order in which ``fields`` names them, those that it does not name after them.

    For readers alone: the database keeps objects in an order of its own. What is signed has no order.
    """
    return {name: arguments[name] for name in (*(one for one in fields if one in arguments), *arguments)}


def argument_rows(arguments: Mapping[str, Any]) -> list[ArgumentRow]:
    """Return one row for each argument, in the order given; nothing is cut and nothing is left out."""
    return [ArgumentRow(str(name), _kind(value), _text(value)) for name, value in arguments.items()]


def argument_rows_cut(arguments: Mapping[str, Any], limit: int) -> tuple[list[ArgumentRow], str]:
    """Return the rows up to ``limit`` characters, and in words what is left out; for a page that links to the whole."""
    rows: list[ArgumentRow] = []
    characters = 0
    for name, value in arguments.items():
        if limit <= 0:
            break
        shown_name, hidden_name = text.clip(str(name), limit)
        shown, hidden = text.clip(_text(value), limit - len(shown_name))
        rows.append(ArgumentRow(shown_name, _kind(value), shown))
        limit -= len(shown_name) + len(shown)
        characters += hidden_name + hidden
    others = len(arguments) - len(rows)
    parts = [(characters, "more character"), (others, "more value")]
    told = " and ".join(f"{count:,} {what}{'' if count == 1 else 's'}" for count, what in parts if count)
    return rows, f"{told} not shown here." if told else ""
