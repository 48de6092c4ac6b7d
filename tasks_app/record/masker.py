"""Replaces secrets by stable marks before anything is stored: equal secrets give equal marks and reveal nothing."""

import hashlib
import hmac
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tasks_app.record.known_secrets import KnownSecrets
from tasks_app.record.plain import Trail, below, flatten, is_exempt
from tasks_app.record.rawjson import RawNumber, as_object
from tasks_app.record.secret_shapes import NAMED, SHAPES, Shape, is_secret_name

CREDENTIAL = "$credential"  # {"$credential": name} is a reference, the one form in which a secret enters a call
MARK = re.compile(r"\[masked:[a-z-]{1,16}:[0-9a-f]{8}\]")

_IN_TURN = (*SHAPES, *NAMED)


def _hints(written: Callable[[str], str]) -> list[tuple[str, list[tuple[str, Shape]]]]:
    signs = dict.fromkeys(shape.sign for shape in _IN_TURN)
    return [
        (sign, [(written(hint), shape) for shape in _IN_TURN if shape.sign == sign for hint in shape.hints])
        for sign in signs
    ]


_HINTS = _hints(str)
_JSON_HINTS = _hints(lambda hint: hint.replace('"', '\\"'))  # a quoted name inside a text shows as \":


@dataclass(frozen=True, slots=True)
class Masked:
    """The value without secrets, and the paths at which they stood (an empty path is the value itself)."""

    value: object
    places: tuple[str, ...]


class Masker:
    """Masks known secret values, secret-named fields and secret-shaped text."""

    def __init__(self, known_secrets: Iterable[str] = (), *, key: bytes) -> None:
        """Take the secret values in use, and this installation's key, from which the marks are made."""
        self._known = KnownSecrets(known_secrets)
        self._key = key

    def mask(self, value: object, exempt: frozenset[str] = frozenset()) -> Masked:
        """Return a plain tree of any value without secrets. Never raises.

        Args:
            value: anything.
            exempt: names (or dotted paths) of fields, such as ids and digests, in which only known secrets
                are masked.
        """
        return self.mask_tree(flatten(value, Trail()), exempt)

    def mask_tree(self, tree: object, exempt: frozenset[str] = frozenset()) -> Masked:
        """Do the same for a tree that ``flatten`` has made."""
        walk = _Walk(self, exempt)
        return Masked(walk.node(tree, "", named=False, exempt=False), tuple(walk.places))

    def may_change(self, json_text: str) -> bool:
        """Tell whether text inside this JSON may need masking (field names apart); False is never wrong."""
        lower = json_text.lower()
        return bool(_hinted(lower, _JSON_HINTS)) or self._known.may_be_in(json_text)

    def mark(self, kind: str, secret: str) -> str:
        """Return the mark for a secret; a mark stays as it is."""
        if MARK.fullmatch(secret):
            return secret
        digest = hmac.new(self._key, secret.encode(errors="surrogatepass"), hashlib.sha256)
        return f"[masked:{kind}:{digest.hexdigest()[:8]}]"

    def text(self, text: str, *, exempt: bool = False) -> str:
        """Return one text without known secrets and, unless exempt, without secret-shaped parts."""
        if self._known.equals(text):
            return self.mark("known", text)
        text = self._without_known(text)
        if exempt:
            return text
        for shape in dict.fromkeys(_hinted(text.lower(), _HINTS)):
            text = self._without_shape(text, shape)
        return text

    def _without_known(self, text: str) -> str:
        found = self._known.find(text)
        if not found:
            return text
        secret_of = dict(found)

        def replace(match: re.Match[str]) -> str:
            secret = secret_of.get(match.group())
            return self.mark("known", secret) if secret is not None else match.group()

        return KnownSecrets.pattern(found, MARK).sub(replace, text)

    def _without_shape(self, text: str, shape: Shape) -> str:
        def replace(match: re.Match[str]) -> str:
            if not match["secret"] or ("name" in shape.pattern.groupindex and not is_secret_name(match["name"])):
                return match.group()
            before = text[match.start() : match.start("secret")]
            after = text[match.end("secret") : match.end()]
            return before + self.mark(shape.kind, match["secret"]) + after

        return shape.pattern.sub(replace, text)


def _hinted(lower: str, hints: list[tuple[str, list[tuple[str, Shape]]]]) -> list[Shape]:
    return [shape for sign, group in hints if sign in lower for hint, shape in group if hint in lower]


class _Walk:
    """One walk over one tree."""

    def __init__(self, masker: Masker, fields: frozenset[str]) -> None:
        self._masker = masker
        self._fields = fields
        self.places: list[str] = []

    def node(self, node: object, path: str, *, named: bool, exempt: bool) -> object:
        if isinstance(node, dict):
            return self._members(node, path, named=named, exempt=exempt)
        if isinstance(node, list):
            return [self.node(item, f"{path}[{at}]", named=named, exempt=exempt) for at, item in enumerate(node)]
        if node is None or isinstance(node, bool):
            return node
        if named and not exempt:
            return self._named(node, path)
        return self._leaf(node, path, exempt=exempt)

    def _members(self, node: dict[str, object], path: str, *, named: bool, exempt: bool) -> object:
        reference = list(node) == [CREDENTIAL]
        pairs = []
        for name, item in node.items():
            where = below(path, name)
            free = exempt or is_exempt(name, where, self._fields)
            shown = self._changed(name, self._masker.text(name, exempt=free), path)
            secret = not reference and (named or is_secret_name(name))
            pairs.append((shown, self.node(item, where, named=secret, exempt=free)))
        return as_object(pairs)

    def _named(self, node: object, path: str) -> object:
        text = _as_text(node)
        shown = self._masker.text(text)
        if not MARK.fullmatch(shown):  # a mark that names its kind says more than the name of the field
            shown = self._masker.mark("field", text)
        return self._changed(text, shown, path) if text else node

    def _leaf(self, node: object, path: str, *, exempt: bool) -> object:
        if isinstance(node, str):
            return self._changed(node, self._masker.text(node, exempt=exempt), path)
        text = _as_text(node)
        shown = self._changed(text, self._masker.text(text, exempt=exempt), path)
        if shown == text:
            return node
        return shown.encode("latin-1") if isinstance(node, bytes) else shown

    def _changed(self, before: str, after: str, path: str) -> str:
        if after != before:
            self.places.append(path)
        return after


def _as_text(node: object) -> str:
    if isinstance(node, bytes):
        return node.decode("latin-1")
    return node.text if isinstance(node, RawNumber) else str(node)
