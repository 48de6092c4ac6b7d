"""What the model saw: each selection of context whole, and the difference between two of them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.compared import Opcode, TooMuchWork, ends_alike, in_groups, opcodes
from core.errors import NotFound
from core.json_text import json_shown
from tasks_app.models import Event, Task
from tasks_app.runtime.selection import KIND, selection_at

MOST = 100  # selections that one page lists, the newest
LINES = 4000  # of each side that are compared
AROUND = 3  # lines that are alike and shown around what differs
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
    old, new = older.lines[:LINES], newer.lines[:LINES]
    lines: list[tuple[str, str]] = []
    for group in in_groups(_alike(old, new), AROUND):
        first, last = group[0], group[-1]
        lines.append(("", f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@"))
        for tag, a, b, c, d in group:
            if tag == "equal":
                lines += [("", f" {one}") for one in old[a:b]]
                continue
            lines += [("removed", f"-{one}") for one in old[a:b]]
            lines += [("added", f"+{one}") for one in new[c:d]]
    return lines


def _alike(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    """Compare by lines; where that is too much, only what both begin and end with is alike."""
    try:
        return opcodes(old, new, autojunk=True)
    except TooMuchWork:
        return ends_alike(old, new)


def _range(start: int, end: int) -> str:
    """Return a stretch of lines as differences write it, from 1: its first line and how many."""
    return f"{start + 1}" if end - start == 1 else f"{start + (end > start)},{end - start}"


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
    if not isinstance(content, str):
        return json_shown(content, indent=1)
    try:
        found = json.loads(content)
        return found if isinstance(found, str) else json_shown(found, indent=1)
    except (ValueError, RecursionError):  # a number may be too long, objects too deep
        return content
