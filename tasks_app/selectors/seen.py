"""What the model saw: each selection of context whole, and the difference between two of them."""

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import NotFound
from tasks_app.models import Event, Task
from tasks_app.runtime.selection import KIND, selection_at

MOST = 100  # selections that one page lists, the newest
LINES = 4000  # of each side that are compared
SHORT = 80  # characters of a part that was left out


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One selection: the event, and everything that was shown to the model, as lines of text.

    ``left_out``: the beginning of each part that the selection before had and this one has no more.
    """

    event: Event
    instructions: str
    parts: list[Mapping[str, Any]]
    lines: list[str]
    left_out: list[str]


def selections(task: Task) -> list[Event]:
    """Return the newest selections of context, in order."""
    found = Event.objects.filter(stream=task.pk, kind=KIND).order_by("-seq")
    return list(found[:MOST])[::-1]


def seen_at(*, task: Task, seq: int) -> Seen:
    """Return what the model saw at the selection of that sequence. Raises NotFound."""
    event = Event.objects.filter(stream=task.pk, kind=KIND, seq=seq).first()
    whole = selection_at(task.pk, seq) if event else None
    if event is None or whole is None:
        raise NotFound
    parts = [one for one in whole.parts if isinstance(one, Mapping)]
    left_out = [_short(one) for one in whole.left_out]
    lines = _lines(whole.instructions, parts)
    return Seen(event=event, instructions=whole.instructions, parts=parts, lines=lines, left_out=left_out)


def difference(older: Seen, newer: Seen) -> list[tuple[str, str]]:
    """Return the lines of the newer selection beside the older: ("added", "removed" or "", the line). Pure."""
    found = difflib.unified_diff(older.lines[:LINES], newer.lines[:LINES], n=3, lineterm="")
    marks = {"+": "added", "-": "removed"}
    return [(marks.get(one[:1], ""), one) for one in list(found)[2:]]


def _lines(instructions: str, parts: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = ["instructions:", *instructions.splitlines()] if instructions else []
    for part in parts:
        lines += [f"{part.get('role', 'part')}:", *_text(part.get("content", part)).splitlines()]
    return lines


def _short(part: Any) -> str:
    role, content = (part.get("role"), part.get("content")) if isinstance(part, Mapping) else (None, part)
    text = " ".join(_text(content).split())
    return f"{role or 'part'}: {text[:SHORT]}{'...' if len(text) > SHORT else ''}"


def _text(content: Any) -> str:
    """Write content as text; JSON in a text is spread over lines, so that a difference is where it is."""
    found: Any = content
    if isinstance(content, str):
        try:
            found = json.loads(content)
        except ValueError:
            return content
    return found if isinstance(found, str) else json.dumps(found, indent=1, ensure_ascii=False, default=str)
