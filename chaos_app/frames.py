"""The messages of Postgres's wire protocol, cut out of what comes in pieces of any size."""

import asyncio
from collections.abc import AsyncIterator, Iterator

PIECES = b"PBDEC"  # Parse, Bind, Describe, Execute, Close: what follows belongs to the same request
CHUNK = 65536  # bytes read at once


class Frames:
    """What has come of a stream, cut into its messages: whole pieces are passed on, not message by message."""

    def __init__(self) -> None:
        self._left = b""

    def feed(self, data: bytes) -> list[bytes]:
        """Return the messages that are whole now."""
        self._left += data
        found, place, most = [], 0, len(self._left)
        while place + 5 <= most:
            end = place + 1 + int.from_bytes(self._left[place + 1 : place + 5])
            if end > most:
                break
            found.append(self._left[place:end])
            place = end
        self._left = self._left[place:]
        return found


def pieces(request: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield kind and body of each message of a request."""
    place = 0
    while place < len(request):
        end = place + 1 + int.from_bytes(request[place + 1 : place + 5])
        yield request[place : place + 1], request[place + 5 : end]
        place = end


async def startup(reader: asyncio.StreamReader) -> bytes:
    """Read the first packet, which has no kind; it names the database, the user, the application."""
    head = await reader.readexactly(4)
    return head + await reader.readexactly(int.from_bytes(head) - 4)


async def requests(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Yield whole requests: the pieces of one up to its Sync, or a single message."""
    frames, parts = Frames(), []
    while data := await reader.read(CHUNK):
        for frame in frames.feed(data):
            parts.append(frame)
            if frame[:1] not in PIECES:
                yield b"".join(parts)
                parts = []
