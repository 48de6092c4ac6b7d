"""An event, and a moment that its commit's own clock fills in."""

from dataclasses import dataclass, fields
from typing import Any, ClassVar

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class After:
    """A moment that many seconds after the commit's own clock reading."""

    seconds: float


Moment = After | str


@dataclass(frozen=True, kw_only=True)
class Event:
    """Base of every event."""

    KIND: ClassVar[str] = ""
    FOREIGN: ClassVar[frozenset[str]] = frozenset()

    def parts(self) -> tuple[Json, dict[str, float]]:
        """Return (data, after): what is stored as it is, and the moments to resolve in the statement.

        None is left out: an absent field is the same as an unknown one.
        """
        data: Json = {}
        after: dict[str, float] = {}
        for name in field_names(type(self)):
            value = getattr(self, name)
            if isinstance(value, After):
                after[name] = value.seconds
            elif value is not None:
                data[name] = value
        return data, after


_NAMES: dict[type[Event], tuple[str, ...]] = {}


def field_names(kind: type[Event]) -> tuple[str, ...]:
    """Return the names of the fields of a kind of event."""
    if kind not in _NAMES:
        _NAMES[kind] = tuple(field.name for field in fields(kind))
    return _NAMES[kind]
