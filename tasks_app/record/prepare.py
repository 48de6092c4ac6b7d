"""The one way into the record for data from outside: masked, then normalised; call arguments only checked."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from tasks_app.record.canonical import json_bytes
from tasks_app.record.masker import Masker
from tasks_app.record.normaliser import SURROGATE, cut, scrub
from tasks_app.record.ordinary import ordinary
from tasks_app.record.plain import Trail, flatten
from tasks_app.record.rawjson import RawNumber

VALUE_LIMIT = 32 * 1024 * 1024  # bytes of JSON that a result may take before it is cut
ARGUMENTS_LIMIT = 4 * 1024 * 1024  # bytes of JSON that the arguments of a call may take
ORIGINAL_LIMIT = 64 * 1024 * 1024  # bytes of an original that are kept

TEXT = "text/plain; charset=utf-8"
BINARY = "application/octet-stream"
JSON_LIKE = "application/vnd.handrail.original+json"  # JSON but for NaN, Infinity, escaped surrogates, double keys

LOOKS_LIKE_ONE = "holds what looks like a secret; secrets enter a call as credential references only"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A value as it is stored.

    ``altered`` means that information was changed; then ``blob`` is the masked original, in ``blob_media_type``,
    and ``alterations`` says where and why. ``masked`` means that secrets were replaced.
    """

    value: object
    altered: bool = False
    masked: bool = False
    blob: bytes | None = None
    blob_media_type: str | None = None
    alterations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a call is refused: the field (a path, or ``arguments``) and the reason."""

    field: str
    reason: str


def prepare(
    value: object, *, masker: Masker, exempt: frozenset[str] = frozenset(), limit_bytes: int = VALUE_LIMIT
) -> Prepared:
    """Return a result, model text, error or context in the form in which it is stored. Never raises.

    Args:
        value: anything.
        masker: knows the secrets in use.
        exempt: names or dotted paths of fields that are neither masked (known secrets apart) nor cut.
        limit_bytes: the most that the value may take as compact UTF-8 JSON.
    """
    unchanged = ordinary(value, masker, limit_bytes, exempt)
    if unchanged is not None:
        return Prepared(unchanged.value)
    trail = Trail()
    masked = masker.mask_tree(flatten(value, trail), exempt)
    stored = cut(scrub(masked.value, trail), trail, exempt=exempt, limit_bytes=limit_bytes)
    if not trail.altered:
        return Prepared(stored, masked=bool(masked.places))
    blob, media_type = _original(masked.value)
    return Prepared(stored, True, bool(masked.places), blob, media_type, trail.sentences())


def check_arguments(
    arguments: Mapping[str, object], *, masker: Masker, exempt: frozenset[str] = frozenset()
) -> list[Problem]:
    """Name every field that could not be stored as it is: call arguments are never altered. Never raises.

    An empty list means that the record gives back exactly these arguments. Size counts only beyond 4 MiB.

    Args:
        arguments: the arguments after validation and defaults.
        masker: knows the secrets in use.
        exempt: names or dotted paths that may look like secrets (ids, digests); known secrets are still refused.
    """
    if ordinary(arguments, masker, ARGUMENTS_LIMIT, exempt) is not None:
        return []
    trail = Trail()
    tree = flatten(arguments, trail)
    masked = masker.mask_tree(tree, exempt)
    stored = scrub(tree, trail)
    problems = [Problem(note.path or "arguments", note.why) for note in trail.notes]
    problems += [Problem(place or "arguments", LOOKS_LIKE_ONE) for place in dict.fromkeys(masked.places)]
    return problems + _too_large(stored)


def _too_large(stored: object) -> list[Problem]:
    size = len(json_bytes(stored))
    if size <= ARGUMENTS_LIMIT:
        return []
    return [Problem("arguments", f"{size:,} bytes of JSON; at most {ARGUMENTS_LIMIT:,} are taken")]


def _original(tree: object) -> tuple[bytes, str]:
    content, media_type = _spelled(tree)
    return content[:ORIGINAL_LIMIT], media_type


def _spelled(tree: object) -> tuple[bytes, str]:
    if isinstance(tree, bytes):
        return tree, BINARY
    if isinstance(tree, str) and not SURROGATE.search(tree):
        return tree.encode(), TEXT
    return json.dumps(tree, default=_leaf).encode(), JSON_LIKE


def _leaf(node: object) -> str:
    if isinstance(node, RawNumber):
        return node.text
    return node.decode("latin-1") if isinstance(node, bytes) else repr(node)
