"""The mailbox: a real Maildir. It keeps every message that it accepts, also one that it has already."""

import mailbox
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import parsedate_to_datetime
from pathlib import Path

from chaos_app.world.marks import PLANTED, Marks, marks_read


@dataclass(frozen=True)
class Message:
    """One kept message; ``reference`` is its name in the Maildir, ``at`` the time of its arrival there."""

    reference: str
    at: float
    message_id: str | None
    sender: str
    to: str
    subject: str
    date: str | None
    body: str
    marks: Marks
    planted: bool


class Mailbox:
    """Messages are immutable files, so each is parsed once."""

    def __init__(self, folder: Path) -> None:
        self._box = mailbox.Maildir(str(folder), create=True)
        self._folder = folder
        self._parsed: dict[str, Message] = {}

    def deliver(self, content: bytes, *, planted: bool) -> str:
        """Keep one message; its reference."""
        head = f"{PLANTED}: yes\r\n".encode() if planted else b""
        return self._box.add(head + content)

    def messages(self, message_id: str | None = None) -> list[Message]:
        """Every message in order of arrival, or those with this Message-ID (with or without angle brackets)."""
        wanted = bare(message_id)
        found = [self._message(path) for path in (self._folder / "new").iterdir()]
        kept = [message for message in found if wanted is None or message.message_id == wanted]
        return sorted(kept, key=lambda message: (message.at, message.reference))

    def _message(self, path: Path) -> Message:
        if path.name not in self._parsed:
            self._parsed[path.name] = _parsed(path)
        return self._parsed[path.name]


def parse(content: bytes) -> EmailMessage:
    """A message from its bytes; never raises, since a mailbox takes what it gets."""
    return message_from_bytes(content, policy=policy.default)


def marks_of(message: EmailMessage) -> Marks:
    """The marks in a message's headers; without a key of its own, the Message-ID is the key."""
    return marks_read(lambda name: _header(message, name), fallback_key=bare(_header(message, "Message-ID")))


def text_of(message: EmailMessage) -> str:
    """The plain text of a message."""
    part = message.get_body(preferencelist=("plain", "html"))
    if part is None:
        return ""
    raw = part.get_payload(decode=True)
    if not isinstance(raw, bytes):
        return ""
    try:
        text = raw.decode(part.get_content_charset() or "utf-8", errors="replace")
    except LookupError:  # a charset that nobody knows
        text = raw.decode("utf-8", errors="replace")
    return text.replace("\r\n", "\n").rstrip("\n")


def bare(message_id: str | None) -> str | None:
    """A Message-ID without its angle brackets."""
    return message_id.strip().removeprefix("<").removesuffix(">") if message_id else None


def _header(message: EmailMessage, name: str) -> str | None:
    value = message[name]
    return str(value).replace("\n", " ").replace("\r", " ") if value is not None else None


def _parsed(path: Path) -> Message:
    message = parse(path.read_bytes())
    return Message(
        reference=path.name,
        at=path.stat().st_mtime,
        message_id=bare(_header(message, "Message-ID")),
        sender=_header(message, "From") or "",
        to=_header(message, "To") or "",
        subject=_header(message, "Subject") or "",
        date=_date(_header(message, "Date")),
        body=text_of(message),
        marks=marks_of(message),
        planted=message[PLANTED] is not None,
    )


def _date(value: str | None) -> str | None:
    try:
        return parsedate_to_datetime(value).isoformat() if value else None
    except ValueError:
        return None
