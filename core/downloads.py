"""Files that are made while they are sent: in memory is at most a part of each, however long it is."""

from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor

from channels.db import DatabaseSyncToAsync
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse

PART = 256 * 1024  # characters that are read before they are sent
_POOL = ThreadPoolExecutor(max_workers=2, thread_name_prefix="download")


def download(request: HttpRequest, *, name: str, lines: Iterator[str]) -> StreamingHttpResponse:
    """Send lines as a file of this name.

    ``lines`` holds no cursor from one line to the next: each part may be read by another thread over another
    connection, and a slow receiver keeps neither.
    """
    # An iterator that is not async is read whole by Django before the first byte goes out.
    content = _parts(lines) if isinstance(request, ASGIRequest) else lines
    response = StreamingHttpResponse(content, content_type="application/octet-stream")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


async def _parts(lines: Iterator[str]) -> AsyncIterator[str]:
    read = DatabaseSyncToAsync(_part, thread_sensitive=False, executor=_POOL)
    while part := await read(lines):
        yield part


def _part(lines: Iterator[str]) -> str:
    """Return the next lines together, an empty text after the last."""
    part, size = [], 0
    for line in lines:
        part.append(line)
        size += len(line)
        if size >= PART:
            break
    return "".join(part)
