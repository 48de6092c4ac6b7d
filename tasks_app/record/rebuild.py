"""The proof that rows are what the events say: replay each record and compare."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.db import transaction

from tasks_app.models import Blob, Call, Event, Task
from tasks_app.record.payload import resolve
from tasks_app.record.reducer import State, apply
from tasks_app.record.reducing_calls import Fact

# Written once from the event that creates them, and compared as well.
CREATED = ("agent", "agent_version", "code_digest", "title", "intent", "done_when", "labels", "budget")


def facts(stream: UUID, *, until: int | None = None) -> Iterator[Fact]:
    """Yield a task's events in order, large values read back."""
    rows = Event.objects.filter(stream=stream).order_by("seq")
    if until is not None:
        rows = rows.filter(seq__lte=until)

    def load(sha256: str) -> bytes:
        return bytes(Blob.objects.values_list("content", flat=True).get(stream=stream, sha256=sha256))

    for row in rows.iterator(chunk_size=500):
        data = resolve(row.data, load)
        yield Fact(seq=row.seq, kind=row.kind, data=data, at=row.at, epoch=row.epoch, actor=row.actor)


def task_replayed(stream: UUID, *, until: int | None = None) -> State:
    """Return the state of a task by its events alone, now or at an earlier sequence."""
    state = State()
    for fact in facts(stream, until=until):
        apply(state, fact)
    return state


def task_differences(stream: UUID) -> list[str]:
    """Return a sentence for each column of a task's row, and of its calls' rows, that the events do not say.

    Read in one snapshot: a task that is being worked on is compared as of one moment.
    """
    with transaction.atomic():
        row = Task.objects.select_for_update().get(pk=stream)
        rows = {call.name: call for call in Call.objects.filter(task=stream)}
        state = task_replayed(stream)
    shown = {name: getattr(row, name) for name in state.task if name not in {"tokens", "lease_nonce"}}
    shown["tokens"] = row.spent.get("tokens", 0)
    shown["lease_nonce"] = str(row.lease_nonce) if row.lease_nonce else None
    found = list(_compared("The row", shown, state.task))
    for name in sorted(rows.keys() | state.calls.keys()):
        if name not in rows or name not in state.calls:
            found.append(f"The call {name!r} stands {'only in the events' if name in state.calls else 'in no event'}.")
            continue
        replayed = state.calls[name]
        found += _compared(f"The call {name!r}", {n: getattr(rows[name], n) for n in replayed}, replayed)
    return found


def _compared(what: str, shown: dict[str, Any], replayed: dict[str, Any]) -> Iterator[str]:
    for name, value in shown.items():
        if _plain(value) != _plain(replayed[name]):
            yield f"{what} has {name} {_plain(value)}, its events say {_plain(replayed[name])}."


def _plain(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=lambda other: other.isoformat())
