"""The arguments of a call as rows that a person can read, each value whole and with its kind."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


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
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2, default=str)


def in_order(arguments: Mapping[str, Any], fields: Iterable[str]) -> dict[str, Any]:
    """Return the same arguments in the order in which ``fields`` names them, those that it does not name after them.

    For readers alone: the database keeps objects in an order of its own. What is signed has no order.
    """
    return {name: arguments[name] for name in (*(one for one in fields if one in arguments), *arguments)}


def argument_rows(arguments: Mapping[str, Any]) -> list[ArgumentRow]:
    """Return one row for each argument, in the order given; nothing is cut and nothing is left out."""
    return [ArgumentRow(str(name), _kind(value), _text(value)) for name, value in arguments.items()]
