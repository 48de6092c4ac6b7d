"""A record as a file that anybody can check with ``verifier.py`` alone. What is stored goes out as it is stored."""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from core.clock import database_now
from core.errors import NotFound
from core.models import Workspace
from tasks_app.models import Blob, Task
from tasks_app.record.bodies import bodies
from tasks_app.record.verifier import FORMAT


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Where a stream stands: its kind, its last sequence, its last digest."""

    stream: UUID
    kind: str
    seq: int
    digest: bytes


def stream_head(stream: UUID) -> Head:
    """Return the head of a task's stream, or of a workspace's administration stream. Raises NotFound."""
    for model, kind in ((Task, "task"), (Workspace, "administration")):
        found = model.objects.filter(pk=stream).values_list("head_seq", "head_digest").first()
        if found is not None:
            return Head(stream=stream, kind=kind, seq=found[0], digest=bytes(found[1]))
    raise NotFound


def export_name(head: Head) -> str:
    """Return a name for the file of a record."""
    return f"{head.kind}-{head.stream}-{head.seq}.jsonl"


def export_lines(head: Head) -> Iterator[str]:
    """Yield the lines of a record up to a head that was read before: header, events, blobs.

    The caller has checked that the reader may see the stream. History is append-only, so the lines are those of
    one moment although they are read page by page.
    """
    yield _line(
        {
            "format": FORMAT,
            "stream": str(head.stream),
            "kind": head.kind,
            "head_seq": head.seq,
            "head_digest": head.digest.hex(),
            "exported_at": database_now().isoformat(),
        }
    )
    for body in bodies(head.stream, until=head.seq):
        yield _line({"seq": body.seq, "body": body.text, "at_us": body.at_us, "digest": body.digest.hex()})
    kept = Blob.objects.filter(stream=head.stream).order_by("sha256")
    for sha256 in list(kept.values_list("sha256", flat=True)):  # one at a time, and no cursor in between
        media_type, content = kept.values_list("media_type", "content").get(sha256=sha256)
        text = base64.b64encode(content).decode()
        yield _line({"blob": sha256, "size": len(content), "media_type": media_type, "base64": text})


def _line(entry: dict[str, Any]) -> str:
    return json.dumps(entry, ensure_ascii=False) + "\n"
