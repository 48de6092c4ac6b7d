"""What is sent: fragments by id, in messages that stay below the limit of a frame."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

FRAME_LIMIT = 60_000  # bytes of one message; the promise is 64 KB
ROWS_LIMIT = 40_000  # bytes of rows in one message: there is room for the head of the page beside them

Message = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one read led to: messages in order, the cursor after them, whether more waits to be read."""

    messages: list[Message]
    cursor: int
    head: int
    more: bool = False
    newest: datetime | None = None  # when the last of its events was committed
    again: float | None = None  # seconds after which something may be new that this read left out


@dataclass(slots=True)
class Sent:
    """The fragments that the page has already, by digest: what has not changed is not sent again."""

    digests: dict[str, bytes] = field(default_factory=dict)

    def changed(self, fragments: Iterable[tuple[str, str]]) -> list[str]:
        """Return the fragments (id, html) that differ from what was sent last, and remember them."""
        new = []
        for key, html in fragments:
            digest = hashlib.blake2b(html.encode(), digest_size=16).digest()
            if self.digests.get(key) != digest:
                self.digests[key] = digest
                new.append(html)
        return new

    def forget(self, beginning: str) -> None:
        """Forget the fragments whose ids begin so: the page says by itself what it has of them."""
        self.digests = {key: digest for key, digest in self.digests.items() if not key.startswith(beginning)}


class Common(Message):
    """A message that goes to many sockets: written out once."""

    @cached_property
    def text(self) -> str:
        """Return it as it is sent."""
        return json.dumps(self, ensure_ascii=False, allow_nan=False)


def encoded(message: Message) -> str:
    """Return a message as the browser's ``JSON.parse`` takes it."""
    return message.text if isinstance(message, Common) else json.dumps(message, ensure_ascii=False, allow_nan=False)


def size(text: str) -> int:
    """Return how many bytes a text takes inside a message."""
    return len(json.dumps(text, ensure_ascii=False).encode())


def packed(fragments: list[str]) -> list[str]:
    """Return the fragments joined into as few texts as fit a message each."""
    texts: list[str] = []
    for fragment in fragments:
        if texts and size(texts[-1] + fragment) <= FRAME_LIMIT:
            texts[-1] += fragment
        else:
            texts.append(fragment)
    return texts
