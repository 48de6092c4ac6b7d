"""The task as the left half shows it: the rows of its timeline in words, as data that the page renders."""

from typing import Any

from approvals_app.models import ApprovalRequest
from approvals_app.status import ApprovalStatus
from tasks_app.models import Event, Task
from tasks_app.timeline.parts import Line, Part
from tasks_app.timeline.story import Row
from tasks_app.timeline.window import timeline_window

# What a newcomer needs to follow the story; of the rest it is said that it is left out.
KINDS = frozenset(
    {
        *("task.created", "task.completed", "task.failed", "task.unverified"),
        *("approval.requested", "approval.decided", "call.attempted", "call.verified"),
        *("slice.lost", "call.in_doubt", "call.settled"),
    }
)
Json = dict[str, Any]


def task_told(task: Task) -> Json:
    """Return what the page shows of a task: its status, and the newest rows of its timeline."""
    window = timeline_window(task=task)
    told = set(Event.objects.filter(stream=task.pk, kind__in=KINDS).values_list("seq", flat=True))
    rows = [row for row in window.rows if row.seq in told or row.css == "divider"]
    return {
        "title": task.title,
        "status": task.status,
        "wait": (task.wait or {}).get("kind", ""),
        "losses": task.losses,
        "holder": task.lease_holder,
        "rows": [_row(row) for row in rows],
        "left_out": max(0, window.head_seq - len(rows)),
    }


def asked_of(task: Task, name: str) -> ApprovalRequest | None:
    """Return the open request for a call."""
    found = ApprovalRequest.objects.filter(task=task, name=name, status=ApprovalStatus.REQUESTED)
    return found.first()


def line_of(told: Json) -> Line:
    """Return the sentence that a row holds as data."""
    parts = tuple(Part(str(text), str(style)) for text, style in told["parts"])
    return Line(parts=parts, tone=str(told["tone"]), glyph=str(told["glyph"]))


def _row(row: Row) -> Json:
    return {
        "id": row.id,
        "seq": row.seq,
        "css": row.css,
        "at": row.at.timestamp() if row.at else None,
        "line": _line(row.line),
        "cause": _line(row.cause) if row.cause else None,
    }


def _line(said: Line) -> Json:
    return {"parts": [(part.text, part.style) for part in said.parts], "tone": said.tone, "glyph": said.glyph}
