"""Reading how the time of a task's calls went."""

from collections.abc import Sequence
from uuid import UUID

from django.db.models.fields.json import KeyTextTransform

from core.clock import database_now
from tasks_app.models import Call, Event
from tasks_app.status import OPEN, EffectClass
from tasks_app.timeline.call_split import ENDS, KINDS, OF_ALL, CallSplit, calls_split

LONGEST = 2000  # events; calls that lie further apart are not added up on a page
_KINDS = sorted({*KINDS, *ENDS, *OF_ALL})


def call_splits(task: UUID, calls: Sequence[Call]) -> dict[str, CallSplit]:
    """Return the split of each of these calls of a task; of the latest alone where they are far apart."""
    if not calls:
        return {}
    newest = max(call.intended_seq for call in calls)
    near = [call for call in calls if newest - call.intended_seq < LONGEST]
    first = min(call.intended_seq for call in near)
    found = Event.objects.filter(stream=task, seq__gte=first, seq__lt=first + 2 * LONGEST, kind__in=_KINDS)
    facts = found.order_by("seq").values_list("kind", KeyTextTransform("name", "data"), "at")
    running = {call.name: call.state in OPEN for call in near}
    at_once = frozenset(call.name for call in near if call.effect_class == EffectClass.NONE)
    return calls_split(facts, running=running, now=database_now(), at_once=at_once)
