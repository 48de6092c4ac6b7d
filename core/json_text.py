"""JSON from outside, read and shown within bounds that no sender can move. Pure: no Django."""

import json
from collections.abc import Mapping
from typing import Any

MAX_DEPTH = 64  # levels of objects and lists; readers of JSON differ in what they follow, none stops before this

INDENTED_DEPTH = 20  # levels that are spread over lines: further in, the indentation outgrows what it indents
GROWTH = 3  # times its length on one line by which line feeds and indentation may lengthen a value


class NotJson(ValueError):
    """A text that is no JSON; the message is a sentence that names the place."""


class UnfitJson(ValueError):
    """JSON that nobody could keep as it is; the message is a sentence that says why."""


def deeper_than(value: object, most: int) -> bool:
    """Whether objects and lists stand in each other more than ``most`` levels deep; no depth of it can hurt."""
    waits = [(value, 1)]
    while waits:
        one, depth = waits.pop()
        if isinstance(one, Mapping | list | tuple):
            if depth > most:
                return True
            waits += [(inner, depth + 1) for inner in (one.values() if isinstance(one, Mapping) else one)]
    return False


def json_read(text: str) -> Any:
    """Return what a text says as JSON. Raises NotJson, and UnfitJson for what is too deep, too long or no character."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        there = text[error.pos : error.pos + 20].split("\n")[0]
        found = f", before “{there}”" if there else ", at the end"
        said = f"This is no JSON: {error.msg.lower()} in line {error.lineno}, column {error.colno}{found}."
        raise NotJson(said) from None
    except ValueError:
        raise UnfitJson("A number in it has more digits than can be read.") from None
    except RecursionError:
        raise UnfitJson(_too_deep()) from None
    if deeper_than(value, MAX_DEPTH):
        raise UnfitJson(_too_deep())
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise UnfitJson(r"It holds half of a pair, such as \ud800, which is no character.") from None
    return value


def json_shown(value: object, *, indent: int, sort_keys: bool = False) -> str:
    """Return a value as JSON over several lines, and on one where indentation would outgrow it; nothing is left out.

    Raises RecursionError for what is deeper than the stack, which nothing is that was stored.
    """
    line = json.dumps(value, ensure_ascii=False, sort_keys=sort_keys, default=str)
    if not _reads_well(value, indent, len(line) * GROWTH):
        return line
    return json.dumps(value, ensure_ascii=False, sort_keys=sort_keys, default=str, indent=indent)


def _reads_well(value: object, indent: int, room: int) -> bool:
    """Whether ``room`` is enough for the line feeds and the indentation of a value that is not too deep for them."""
    waits = [(value, 1)]
    while waits:
        one, depth = waits.pop()
        if not isinstance(one, Mapping | list | tuple) or not one:
            continue
        room -= len(one) * (1 + depth * indent) + 1 + (depth - 1) * indent
        if depth > INDENTED_DEPTH or room < 0:
            return False
        waits += [(inner, depth + 1) for inner in (one.values() if isinstance(one, Mapping) else one)]
    return True


def _too_deep() -> str:
    return f"Objects and lists stand more than {MAX_DEPTH} levels deep in each other; nothing takes that."
