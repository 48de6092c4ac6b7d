"""Foreign Python values as plain trees: text-keyed dicts, lists, text, numbers, bytes, true, false, null."""

import dataclasses
import datetime
import decimal
import enum
import json
import re
import uuid
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from core.json_text import MAX_DEPTH
from tasks_app.record.rawjson import RawNumber, as_object

MOST_NOTES = 50
LONGEST_INTEGER_BITS = 13_000  # about 3,900 digits; CPython refuses to write more than 4,300

_LEAVES = frozenset({type(None), bool, float, RawNumber})
_WRITTEN = (datetime.datetime, datetime.date, datetime.time)
_AS_TEXT = (uuid.UUID, decimal.Decimal, datetime.timedelta)


@dataclass(frozen=True, slots=True)
class Note:
    """What had to be changed: where, why, and whether it is only another spelling of the same value."""

    path: str
    why: str
    spelling: bool = False


class Trail:
    """Collects notes while a value is worked on."""

    def __init__(self) -> None:
        self.notes: list[Note] = []
        self.altered = False
        self._more = 0

    def note(self, path: str, why: str, *, spelling: bool = False) -> None:
        """Add a note; beyond a number of them only their count is kept."""
        self.altered = self.altered or not spelling
        if len(self.notes) < MOST_NOTES:
            self.notes.append(Note(path, why, spelling))
        else:
            self._more += 1

    def sentences(self) -> tuple[str, ...]:
        """Return the alterations as ``path: why``; other spellings of the same value are not among them."""
        lines = [f"{note.path or '(value)'}: {note.why}" for note in self.notes if not note.spelling]
        return (*lines, f"and {self._more} more") if self._more else tuple(lines)


def below(path: str, name: str) -> str:
    """Return the path of a member."""
    return f"{path}.{name}" if path else name


def is_exempt(name: str, path: str, exempt: frozenset[str]) -> bool:
    """Tell whether a contract exempts a field: by name, or by path (``commit.sha``, list positions left out)."""
    return bool(exempt) and (name in exempt or re.sub(r"\[\d*\]", "", path) in exempt)


def flatten(value: object, trail: Trail, path: str = "", depth: int = 0, above: tuple[int, ...] = ()) -> object:
    """Return ``value`` as a plain tree of its own and note what was changed; never raises.

    The tree may still hold what jsonb refuses (NUL, NaN, bytes, large integers): the normaliser sees to it after
    the masker has run. Text and numbers equal to what was given stay as they are.
    """
    try:
        return _flatten(value, trail, path, depth, above)
    except Exception as error:  # a foreign object may raise anything from its own methods
        trail.note(path, f"cannot be read ({type(error).__name__})")
        return f"[unreadable {type(value).__name__}]"


def _flatten(value: object, trail: Trail, path: str, depth: int, above: tuple[int, ...]) -> object:
    kind = type(value)
    if kind is str:
        return _text(value, trail, path)  # type: ignore[arg-type]
    if kind is int:
        return _integer(value, trail, path)  # type: ignore[arg-type]
    if kind in _LEAVES:
        return value
    if isinstance(value, bytes | bytearray | memoryview):
        return _bytes(bytes(value), trail, path)
    if id(value) in above:
        trail.note(path, "refers to itself")
        return "[refers to itself]"
    if depth >= MAX_DEPTH:
        return _too_deep(value, trail, path)
    return _container(value, trail, path, depth + 1, (*above, id(value)))


def _container(value: object, trail: Trail, path: str, depth: int, above: tuple[int, ...]) -> object:
    if isinstance(value, Mapping):
        return _members(value.items(), trail, path, depth, above)
    if isinstance(value, list | tuple | deque):
        return [flatten(item, trail, f"{path}[{at}]", depth, above) for at, item in enumerate(value)]
    if isinstance(value, set | frozenset):
        trail.note(path, "a set, written as a sorted list")
        items = [flatten(item, trail, f"{path}[]", depth, above) for item in value]
        return sorted(items, key=repr)
    return _foreign(value, trail, path, depth, above)


def _members(
    items: Iterable[tuple[object, object]], trail: Trail, path: str, depth: int, above: tuple[int, ...]
) -> object:
    pairs = []
    for key, item in items:
        name = _name(key, trail, path)
        pairs.append((name, flatten(item, trail, below(path, name), depth, above)))
    return as_object(pairs)


def _name(key: object, trail: Trail, path: str) -> str:
    if isinstance(key, str) and not isinstance(key, enum.Enum):
        return _text(str.__str__(key), trail, path)
    name = key.value if isinstance(key, enum.Enum) else key
    name = name if isinstance(name, str) else json.dumps(name) if _is_scalar(name) else str(name)
    if not isinstance(key, str):
        trail.note(below(path, name), f"a key of type {type(key).__name__}, written as text")
    return _text(name, trail, path)


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, bool | int | float)


def _foreign(value: object, trail: Trail, path: str, depth: int, above: tuple[int, ...]) -> object:
    """Spell out the types that have an obvious JSON form; anything else becomes its repr."""
    if isinstance(value, enum.Enum):
        return flatten(value.value, trail, path, depth, above)
    if isinstance(value, str):
        return _text(str.__str__(value), trail, path)
    if isinstance(value, int):
        return _integer(int.__int__(value), trail, path)
    if isinstance(value, float):
        return float.__float__(value)
    opened = _opened(value)
    if opened is not None:
        trail.note(path, f"a {type(value).__name__}, written as its fields", spelling=True)
        return flatten(opened, trail, path, depth, above)
    return _written(value, trail, path)


def _opened(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if hasattr(type(value), "model_dump"):  # a pydantic model
        return value.model_dump()  # type: ignore[attr-defined]
    return None


def _written(value: object, trail: Trail, path: str) -> str:
    if isinstance(value, _WRITTEN):
        trail.note(path, f"a {type(value).__name__}, written as ISO 8601 text", spelling=True)
        return value.isoformat()
    if isinstance(value, _AS_TEXT):
        trail.note(path, f"a {type(value).__name__}, written as text", spelling=True)
        return str(value)
    trail.note(path, f"a {type(value).__name__}, written as its repr")
    return _text(repr(value), trail, path)


def _text(value: str, trail: Trail, path: str) -> str:
    """Join surrogate pairs that stand as two code points, so that the masker sees the text that a reader will see."""
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        joined = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        if joined != value:
            trail.note(path, "surrogate pairs joined to the characters that they mean")
        return joined
    return value


def _integer(value: int, trail: Trail, path: str) -> int | str:
    if value.bit_length() <= LONGEST_INTEGER_BITS:
        return value
    trail.note(path, "an integer of more than 3,900 digits, written in base 16 as text")
    return hex(value)


def _bytes(value: bytes, trail: Trail, path: str) -> str | bytes:
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return value
    trail.note(path, "bytes, read as UTF-8 text")
    return text


def _too_deep(value: object, trail: Trail, path: str) -> str:
    """Keep what lies below the last level as JSON text, which the masker still reads."""
    trail.note(path, f"nested deeper than {MAX_DEPTH} levels, written as text")
    try:
        return json.dumps(value, default=repr)
    except (ValueError, TypeError, RecursionError):
        return f"[{type(value).__name__} nested deeper than {MAX_DEPTH} levels]"
