"""From an event to what is written: mask, normalise, store large values as blobs."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from django.conf import settings

from tasks_app.record.canonical import json_text
from tasks_app.record.events import Event
from tasks_app.record.masker import Masker
from tasks_app.record.payload import EVENT_LIMIT, BlobPart, original_reference, split_large
from tasks_app.record.prepare import prepare

# Fields that masker and normaliser leave alone wherever they stand (ids and digests of our own making).
OURS = frozenset({"digest", "sha256", "key", "reference", "task", "call", "child"})
ALTERED = "$altered"
SHORTEST_SECRET = 8  # characters; shorter ones would mask ordinary words
KEPT = "_prepared"  # beside the fields of an event


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedEvent:
    """An event ready for the statement. ``text``: its data as JSON. ``whole``: before large values were moved out."""

    kind: str
    data: dict[str, Any]
    text: str
    whole: dict[str, Any]
    after: dict[str, float]
    blobs: Sequence[BlobPart]


_learned: set[str] = set()  # values of credentials that this process has handled


def masker_learn(secrets: Iterable[str]) -> None:
    """Mask these values from now on, wherever they stand in what this process records or logs."""
    new = {secret for secret in secrets if len(secret) >= SHORTEST_SECRET} - _learned
    if new:
        _learned.update(new)
        masker.cache_clear()


def masker_ask(ask: Callable[[], None]) -> None:
    """Have ``ask`` called before anything is masked: it may learn what has been set meanwhile."""
    _asked[:] = [ask]


_asked: list[Callable[[], None]] = []


@cache
def masker() -> Masker:
    """Return this process's masker: it knows the secrets of the settings, and marks by a key of this installation."""
    known = [*_learned, settings.SECRET_KEY, str(settings.DATABASES["default"].get("PASSWORD") or "")]
    return Masker([secret for secret in known if len(secret) >= SHORTEST_SECRET], key=settings.SECRET_KEY.encode())


def text_masked(text: str, most: int, *, from_end: bool = False, exempt: bool = False) -> str:
    """Return so many characters of a text, masked before it is cut: half a secret would be recognised by nobody.

    ``exempt``: an id or a digest, in which only known secrets are masked.
    """
    masked = masker().text(text, exempt=exempt)
    return masked[-most:] if from_end else masked[:most]


def event_prepare(event: Event) -> PreparedEvent:
    """Return the event's stored form; never raises on what tools and agents say (case-24).

    Each altered field is named under ``$altered`` with a reference to the masked original. An event is prepared
    once: what was shown to its agent is what is written.
    """
    known: PreparedEvent | None = event.__dict__.get(KEPT)
    if known is None:
        known = _prepared(event)
        event.__dict__[KEPT] = known
    return known


def _prepared(event: Event) -> PreparedEvent:
    for ask in _asked:
        ask()
    data, after = event.parts()
    blobs: list[BlobPart] = []
    altered: dict[str, Any] = {}
    for name in event.FOREIGN & data.keys():
        made = prepare(data[name], masker=masker(), exempt=OURS)
        data[name] = made.value
        if made.altered and made.blob is not None:
            reference, part = original_reference(made.blob, made.blob_media_type or "application/octet-stream")
            # The sentences name places inside the value, so they are foreign text themselves.
            why = prepare(list(made.alterations[:20]), masker=masker()).value
            altered[name] = {**reference, "why": why}
            blobs.append(part)
    if altered:
        data[ALTERED] = altered
    text = json_text(data)
    if len(text) * 4 <= EVENT_LIMIT or len(text.encode()) <= EVENT_LIMIT:
        return PreparedEvent(kind=event.KIND, data=data, text=text, whole=data, after=after, blobs=blobs)
    small, parts = split_large(data)
    return PreparedEvent(
        kind=event.KIND, data=small, text=json_text(small), whole=data, after=after, blobs=[*blobs, *parts]
    )


def event_stored[E: Event](event: E) -> E:
    """Return the event as a re-reader will see it: the running worker goes on with the stored form."""
    data = event_prepare(event).whole
    return replace(event, **{name: data[name] for name in event.FOREIGN & data.keys()})
