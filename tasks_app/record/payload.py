"""Moves what is larger than 8 KB out of an event into blobs, and back: the one place that knows references."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from tasks_app.record.canonical import json_bytes

EVENT_LIMIT = 8192  # bytes of compact UTF-8 JSON that an event's data may take
HEAD = 200  # code points of a moved value that stay visible in the event
MOST_PARTS = 32
REFERENCE_SIZE = 1500  # bytes; no reference is larger, even if each character of its head needs six
BLOB, ORIGINAL = "$blob", "$original"

TEXT = "text/plain; charset=utf-8"
JSON = "application/json"

type _Path = tuple[str | int, ...]


class BlobMismatch(ValueError):
    """A blob is not the one that its reference names."""

    def __init__(self, sha256: str) -> None:
        super().__init__(f"blob {sha256} has other content")
        self.sha256 = sha256


@dataclass(frozen=True, slots=True)
class BlobPart:
    """One row for the blob table."""

    sha256: str
    size: int
    media_type: str
    content: bytes


def blob_part(content: bytes, media_type: str) -> BlobPart:
    """Return the row for some content."""
    return BlobPart(hashlib.sha256(content).hexdigest(), len(content), media_type, content)


def original_reference(content: bytes, media_type: str) -> tuple[dict[str, Any], BlobPart]:
    """Return the reference to the masked original of an altered value, and its row. ``resolve`` leaves it alone."""
    part = blob_part(content, media_type)
    return {ORIGINAL: {"sha256": part.sha256, "size": part.size, "media_type": media_type}}, part


def split_large(data: dict[str, Any], *, limit: int = EVENT_LIMIT) -> tuple[dict[str, Any], list[BlobPart]]:
    """Return the data with its largest values moved to blobs until it takes at most ``limit`` bytes, and the blobs.

    A value that is moved alone is the smallest one that is enough. Data that stays too large, because it is wide and
    not deep, is moved as a whole. The data must have passed the normaliser; it is not changed in place.
    """
    rest, parts = data, list[BlobPart]()
    size = len(json_bytes(data))
    while size > limit:
        path = _choose(rest, size - limit)
        if not path or len(parts) == MOST_PARTS:
            reference, part = _moved(data)
            return reference, [part]
        reference, part = _moved(_at(rest, path))
        rest = cast(dict[str, Any], _with(rest, path, reference))
        parts.append(part)
        size = len(json_bytes(rest))
    return rest, list({part.sha256: part for part in parts}.values())


def resolve(data: Any, loader: Callable[[str], bytes]) -> Any:
    """Return the data with the whole values in place of their references.

    Args:
        data: what the event holds.
        loader: returns the content of a blob of the same stream by its SHA-256 (hex); what it raises is passed on.

    Raises:
        BlobMismatch: the content is not the one referred to.
    """
    if isinstance(data, list):
        return [resolve(item, loader) for item in data]
    if not isinstance(data, dict) or ORIGINAL in data:
        return data
    beside = {name: resolve(item, loader) for name, item in data.items() if name != BLOB}
    if BLOB not in data:
        return beside
    whole = resolve(_loaded(data[BLOB], loader), loader)
    return whole | beside if beside else whole  # an event moved as a whole still gets its moments beside it


def is_reference(value: object) -> bool:
    """Tell whether a value stands for a blob; the normaliser lets no foreign value look like that."""
    return isinstance(value, dict) and (BLOB in value or ORIGINAL in value)


def _loaded(reference: dict[str, Any], loader: Callable[[str], bytes]) -> Any:
    content = loader(reference["sha256"])
    if hashlib.sha256(content).hexdigest() != reference["sha256"]:
        raise BlobMismatch(reference["sha256"])
    text = content.decode()
    return text if reference["media_type"] == TEXT else json.loads(text)


def _moved(value: object) -> tuple[dict[str, Any], BlobPart]:
    text = value if isinstance(value, str) else json_bytes(value).decode()
    part = blob_part(text.encode(), TEXT if isinstance(value, str) else JSON)
    reference = {"sha256": part.sha256, "size": part.size, "media_type": part.media_type, "head": text[:HEAD]}
    return {BLOB: reference}, part


def _choose(node: object, excess: int) -> _Path:
    """Return the path of the smallest value whose move is enough, else of the largest below the top; () if none is."""
    path: _Path = ()
    while True:
        key, size = _largest(node)
        enough = size - REFERENCE_SIZE >= excess
        if key is None or (path and not enough):
            return path
        node = cast(Any, node)[key]
        path = (*path, key)
        if not enough:
            return path if len(json_bytes(_moved(node)[0])) < size else ()


def _largest(node: object) -> tuple[str | int | None, int]:
    """Return the key and size of the largest member; references count as nothing, they cannot be moved again."""
    if isinstance(node, dict) and not is_reference(node):
        members: list[tuple[str | int, object]] = list(node.items())
    elif isinstance(node, list):
        members = list(enumerate(node))
    else:
        return None, 0
    sizes = [(0 if is_reference(item) else len(json_bytes(item)), key) for key, item in members]
    size, key = max(sizes, key=lambda pair: pair[0], default=(0, None))
    return key, size


def _at(node: Any, path: _Path) -> Any:
    for key in path:
        node = node[key]
    return node


def _with(node: Any, path: _Path, value: object) -> object:
    """Return a copy of the node with another value at the path."""
    if not path:
        return value
    copy = node.copy()
    copy[path[0]] = _with(node[path[0]], path[1:], value)
    return copy
