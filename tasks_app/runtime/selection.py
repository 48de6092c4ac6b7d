"""What a model is shown, kept as what changed since the selection before it.

A question that grows by a message adds that message to the record, not all of them again. Every so often the whole is
kept anew, so that a reader goes back few events.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from tasks_app.models import Event
from tasks_app.runtime.recorded import data_whole

KIND = "context.selected"
WHOLE_EVERY = 20  # selections


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """One selection, whole. ``seq``: its event; ``left_out``: the parts of the one before that it has no more."""

    seq: int
    parts: list[Any]
    instructions: str
    left_out: list[Any]
    changes: int  # events that follow the last one which was kept whole

    @property
    def last(self) -> "Last":
        """What the next selection is compared with."""
        keys = tuple(map(part_key, self.parts))
        return Last(seq=self.seq, keys=keys, instructions=self.instructions, changes=self.changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Last:
    """The selection before, as it was when it was made: an agent may change its parts in place for the next."""

    seq: int
    keys: tuple[str, ...]
    instructions: str
    changes: int


def part_key(part: Any) -> str:
    """Return a text that tells a part from any other, kinds of values included. Pure."""
    try:
        return json.dumps(part, sort_keys=True, ensure_ascii=False, default=repr)
    except (TypeError, ValueError, RecursionError):  # keys of several kinds, a circle
        return repr(part)


def changed(before: Sequence[Any], wanted: Sequence[Any]) -> tuple[list[int], list[Any]]:
    """Return the places of ``before`` that are dropped and the parts that come after what is kept. Pure."""
    kept, at = [], 0
    for part in wanted:
        place = next((n for n in range(at, len(before)) if before[n] == part), None)
        if place is None:
            break
        kept.append(place)
        at = place + 1
    return [n for n in range(len(before)) if n not in set(kept)], list(wanted[len(kept) :])


def applied(before: Sequence[Any], dropped: Sequence[Any], added: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return the whole, and what was left out of the one before. Pure."""
    places = {n for n in dropped if isinstance(n, int)}
    kept = [part for n, part in enumerate(before) if n not in places]
    return [*kept, *added], [part for n, part in enumerate(before) if n in places]


def selection_at(stream: UUID, seq: int | None = None) -> Selection | None:
    """Return the task's selection at that event, or its last one; None where there is none."""
    found = Event.objects.filter(stream=stream, kind=KIND)
    upto = found if seq is None else found.filter(seq__lte=seq)
    chain: list[tuple[int, Mapping[str, Any]]] = []
    for event in upto.order_by("-seq").only("seq", "stream", "data")[: WHOLE_EVERY + 1]:
        chain.append((event.seq, data_whole(stream, event.data)))
        if event.data.get("since") is None:
            break
    if not chain or (seq is not None and chain[0][0] != seq):
        return None
    return _unfolded(chain[::-1])


def _unfolded(chain: Sequence[tuple[int, Mapping[str, Any]]]) -> Selection:
    parts: list[Any] = []
    left_out: list[Any] = []
    instructions = ""
    for _, data in chain:
        added = data.get("added")
        dropped = data.get("dropped") if data.get("since") is not None else []
        parts, left_out = applied(parts, dropped or [], added if isinstance(added, list) else [])
        instructions = instructions if data.get("instructions") is None else str(data["instructions"])
    return Selection(
        seq=chain[-1][0], parts=parts, instructions=instructions, left_out=left_out, changes=len(chain) - 1
    )
