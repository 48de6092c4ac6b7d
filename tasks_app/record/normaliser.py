"""Makes any value one that jsonb, a browser's JSON.parse and a Python reader all take and read back the same."""

import base64
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from tasks_app.record.canonical import json_bytes
from tasks_app.record.plain import Trail, below, flatten, is_exempt
from tasks_app.record.rawjson import DuplicateKeys, RawNumber

GREATEST_INTEGER = 2**53 - 1  # what a double, and so a browser, still tells from its neighbour
LEAST_LIMIT = 256  # bytes; below this nothing useful could be said about what was cut
RESERVED = frozenset({"$blob", "$original"})  # references into the blob table; only payload.py writes them

SURROGATE = re.compile("[\ud800-\udfff]")
_BINARY = "data:application/octet-stream;base64,"


@dataclass(frozen=True, slots=True)
class Normalised:
    """The storable value, whether information was changed, where and why, and the value as it was."""

    value: object
    altered: bool
    alterations: tuple[str, ...]
    original: object


def normalise(value: object, *, exempt: frozenset[str] = frozenset(), limit_bytes: int) -> Normalised:
    """Return ``value`` in the form in which it is stored and read back (case-24). Never raises.

    Objects come back with their keys in jsonb's order, so that a running worker and a resumed one iterate alike.

    Args:
        value: anything.
        exempt: names (or dotted paths) of fields that are not cut while cutting others is enough. What cannot
            be stored is changed in these as well.
        limit_bytes: the most that the value may take as compact UTF-8 JSON; at least 256.
    """
    trail = Trail()
    original = flatten(value, trail)
    stored = cut(scrub(original, trail), trail, exempt=exempt, limit_bytes=limit_bytes)
    return Normalised(stored, trail.altered, trail.sentences(), original if trail.altered else None)


def scrub(node: object, trail: Trail, path: str = "") -> object:
    """Return a plain tree without what jsonb or a browser refuses or changes."""
    if isinstance(node, str):
        return _text(node, trail, path)
    if isinstance(node, dict):
        return _members(node, trail, path)
    if isinstance(node, list):
        return [scrub(item, trail, f"{path}[{at}]") for at, item in enumerate(node)]
    if isinstance(node, bytes):
        trail.note(path, "bytes that are no UTF-8 text, written as base64")
        return _BINARY + base64.b64encode(node).decode()
    if isinstance(node, RawNumber):
        trail.note(path, "a number out of range, written as text")
        return _text(node.text, trail, path)
    return _number(node, trail, path)


def _number(node: object, trail: Trail, path: str) -> object:
    if node is None or isinstance(node, bool) or not isinstance(node, int | float):
        return node
    if isinstance(node, float) and not math.isfinite(node):
        trail.note(path, "not a finite number, written as text")
        return "NaN" if math.isnan(node) else "Infinity" if node > 0 else "-Infinity"
    if abs(node) > GREATEST_INTEGER:  # a float this large comes back from jsonb as an integer
        trail.note(path, "a number beyond 2^53, written as text")
        return str(node)
    return node or abs(node)  # jsonb keeps no negative zero


def _text(node: str, trail: Trail, path: str) -> str:
    if "\0" in node:
        trail.note(path, "NUL characters, written as \u2400")
        node = node.replace("\0", "\u2400")
    if not node.isascii() and SURROGATE.search(node):
        trail.note(path, "lone surrogates, written as \ufffd")
        node = SURROGATE.sub("\ufffd", node)
    return node


def _members(node: dict[str, object], trail: Trail, path: str) -> dict[str, object]:
    if isinstance(node, DuplicateKeys):
        trail.note(path, "keys that stand more than once, numbered")
    names = [_name(name, trail, path) for name, _ in node.items()]
    items = [scrub(item, trail, below(path, name)) for name, (_, item) in zip(names, node.items(), strict=True)]
    return in_order(zip(_distinct(names), items, strict=True))


def _name(name: str, trail: Trail, path: str) -> str:
    if name in RESERVED:
        trail.note(below(path, name), "a reserved name, written with one more $")
        return "$" + name
    return _text(name, trail, below(path, name))


def _distinct(names: list[str]) -> list[str]:
    taken = set(names)
    if len(taken) == len(names):
        return names
    seen: set[str] = set()
    result = []
    for name in names:
        result.append(name if name not in seen else _numbered(name, taken))
        seen.add(name)
        taken.add(result[-1])
    return result


def _numbered(name: str, taken: set[str]) -> str:
    number = 2
    while f"{name} ({number})" in taken:
        number += 1
    return f"{name} ({number})"


def in_order[V](pairs: Iterable[tuple[str, V]]) -> dict[str, V]:
    """Return a dict in the order in which jsonb gives keys back: shorter in UTF-8 first, then bytewise."""
    return dict(sorted(pairs, key=_jsonb_rank))


def _jsonb_rank(pair: tuple[str, object]) -> tuple[int, str]:
    name = pair[0]
    return (len(name) if name.isascii() else len(name.encode()), name)


def cut(node: object, trail: Trail, *, exempt: frozenset[str], limit_bytes: int) -> object:
    """Return the tree cut to ``limit_bytes``: the longest texts first, whole structures only if that is not enough."""
    limit = max(limit_bytes, LEAST_LIMIT)
    size = len(json_bytes(node))
    if size <= limit:
        return node
    trail.note("", f"{size:,} bytes, cut to at most {limit:,}")
    for spared in (exempt, frozenset[str]()):
        shorter = _cut_texts(node, limit, spared)
        if shorter is not None:
            return shorter
    return _cut_texts(json_bytes(node).decode(), limit, frozenset())


def _cut_texts(node: object, limit: int, spared: frozenset[str]) -> object | None:
    most = limit - 64  # room for the mark
    while most > 16:
        shorter = _shorten(node, most, spared, "")
        if len(json_bytes(shorter)) <= limit:
            return shorter
        most //= 2
    return None


def _shorten(node: object, most: int, spared: frozenset[str], path: str) -> object:
    if isinstance(node, str):
        return _cut_text(node, most)
    if isinstance(node, list):
        return [_shorten(item, most, spared, path) for item in node]
    if isinstance(node, dict):
        return {name: _shorten_member(name, item, most, spared, path) for name, item in node.items()}
    return node


def _shorten_member(name: str, item: object, most: int, spared: frozenset[str], path: str) -> object:
    where = below(path, name)
    return item if is_exempt(name, where, spared) else _shorten(item, most, spared, where)


def _cut_text(text: str, most: int) -> str:
    """Cut after whole code points; a character outside the BMP is one of them and is never halved."""
    if len(text) <= most // 4:
        return text
    content = text.encode()
    if len(content) <= most:
        return text
    return content[:most].decode(errors="ignore") + f"\u2026 [cut, {len(content):,} bytes]"
