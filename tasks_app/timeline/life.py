"""The life of one call in one place: proposed, allowed, sent, answered, read back; each with its event."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from tasks_app.models import Call, Event, LateWrite, Task
from tasks_app.runtime.recorded import data_whole
from tasks_app.timeline.parts import Line
from tasks_app.timeline.words import words

MOST = 60  # steps that are shown
_OF_CALL = Q(kind__startswith="call.") | Q(kind__startswith="approval.")
_DECISIONS = frozenset({"approval.decided", "approval.consumed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeStep:
    """One event of a call, told. ``digest``: the arguments that it binds, where it names them."""

    event: Event
    line: Line
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """A call and its events in order.

    ``approval``: by which it was asked for last; ``bound``: what was decided is of exactly this call.
    ``late``: how often a worker that had lost its lease wrote about it. ``more``: whether the last steps are left out.
    """

    call: Call
    steps: list[LifeStep]
    approval: str
    bound: bool
    late: int
    more: bool


def call_life(*, task: Task, event: Event) -> Life | None:
    """Return the life of the call that an event is about; None of other events, and of calls that do not exist."""
    name = event.data.get("name")
    if not event.kind.startswith(("call.", "approval.")) or not isinstance(name, str):
        return None
    call = Call.objects.filter(task=task, name=name).first()
    if call is None:
        return None
    found = Event.objects.filter(_OF_CALL, stream=task.pk, seq__gte=call.intended_seq, data__name=name)
    events = list(found.order_by("seq")[: MOST + 1])
    steps = [_step(one) for one in events[:MOST]]
    asked = [one for one in steps if one.event.kind.startswith("approval.")]
    digests = {one.digest for one in asked if one.event.kind in _DECISIONS and one.digest}
    late = LateWrite.objects.filter(stream=task.pk, data__name=name).count()
    return Life(
        call=call,
        steps=steps,
        approval=str(asked[-1].event.data.get("approval", "")) if asked else "",
        bound=digests == {call.digest},
        late=late,
        more=len(events) > MOST,
    )


def _step(event: Event) -> LifeStep:
    data: dict[str, Any] = data_whole(event.stream, event.data)
    digest = str(data.get("digest") or "") if event.kind.startswith("approval.") else ""
    return LifeStep(event=event, line=words(event.kind, data, event.actor), digest=digest)
