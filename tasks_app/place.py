"""Where a task is: the place at which losses are counted, as people read it."""

from dataclasses import dataclass

from tasks_app.models import Call, CallState, Task
from tasks_app.status import OPEN

IN_FLIGHT = frozenset({CallState.ATTEMPTED, CallState.UNKNOWN})
LONGEST = 200  # characters, the width of task.loss_place


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A name for people, and how many calls may be acting outside at this moment."""

    name: str
    in_flight: int


def place_next(task: Task) -> Place:
    """Name the place: the calls in flight, otherwise what else is open, otherwise the step to come."""
    if task.lease_epoch == 0:  # nobody has run it: there are no calls, and its first event waits for nothing
        return Place(name=f"step {task.step + 1}", in_flight=0)
    open_calls = Call.objects.filter(task=task, state__in=OPEN).order_by("step", "ordinal")
    states = list(open_calls.values_list("name", "state"))
    flying = [name for name, state in states if state in IN_FLIGHT]
    names = flying or [name for name, _ in states]
    return Place(name=", ".join(names)[:LONGEST] or f"step {task.step + 1}", in_flight=len(flying))
