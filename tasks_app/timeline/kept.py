"""What is stored apart from an event: found in its data, shown by size and digest. Pure: no Django."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tasks_app.record.payload import BLOB


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One stored value: it is read by its digest."""

    sha256: str
    size: int
    media_type: str


def kept_of(reference: Mapping[str, Any]) -> Kept:
    """Return what a reference names."""
    return Kept(sha256=reference["sha256"], size=reference["size"], media_type=reference["media_type"])


def kept_in(value: Any) -> Iterator[Kept]:
    """Yield everything that is kept apart from a value."""
    if isinstance(value, list):
        for item in value:
            yield from kept_in(item)
    elif isinstance(value, Mapping):
        if BLOB in value:
            yield kept_of(value[BLOB])
        else:
            yield from kept_in(list(value.values()))
