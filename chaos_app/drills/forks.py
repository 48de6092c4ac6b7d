"""A copy is a task of its own: new calls, new keys, new approvals; what it took over is not done again (S9). Pure."""

from collections.abc import Iterator, Sequence

from chaos_app.drills.copies import COPY
from chaos_app.drills.evidence import TaskRecord
from chaos_app.drills.tally import Broken, Told


def forks(told: Sequence[Told]) -> Iterator[Broken]:
    """Yield what each copy shares with another task of the case that it must not share."""
    records = [one.record for one in told]
    for copy in (record for record in records if record.role == COPY):
        for said in (*_shared(copy, [one for one in records if one.task != copy.task]), *_done_again(copy)):
            yield Broken(invariant="S9", sentence=said, role=copy.role)


def _shared(copy: TaskRecord, others: Sequence[TaskRecord]) -> Iterator[str]:
    for other in others:
        if shared := _said(copy, "call.attempted", "key") & _said(other, "call.attempted", "key"):
            yield f"The copy sent under the key {min(shared)!r}, which is that of a call of the {other.role}."
        if _said(copy, "approval.consumed", "approval") & _said(other, "approval.consumed", "approval"):
            yield f"The copy used an approval that was given to the {other.role}."


def _said(record: TaskRecord, kind: str, name: str) -> set[str]:
    return {str(event.data[name]) for event in record.events if event.kind == kind and event.data.get(name)}


def _done_again(copy: TaskRecord) -> Iterator[str]:
    created = next((event.data for event in copy.events if event.kind == "task.created"), {})
    origin = created.get("copied_from")
    taken = set(origin.get("calls") or ()) if isinstance(origin, dict) else set()
    for name in sorted(taken & _said(copy, "call.intended", "name")):
        yield f"The copy began the call {name!r} again, which it had taken over as settled."
