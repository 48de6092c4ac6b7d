"""Where a task is: the place at which losses are counted, as people read it."""

from collections.abc import Iterable
from dataclasses import dataclass

from tasks_app.models import Call, CallState, Task
from tasks_app.open_calls import calls_open

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
    return place_of(task, calls_open(task.pk).only("name", "state", "step", "ordinal"))


def place_of(task: Task, calls: Iterable[Call]) -> Place:
    """Name the place of a task with these open calls."""
    in_order = sorted(calls, key=lambda call: (call.step, call.ordinal))
    flying = [call.name for call in in_order if call.state in IN_FLIGHT]
    names = flying or [call.name for call in in_order]
    return Place(name=", ".join(names)[:LONGEST] or f"step {task.step + 1}", in_flight=len(flying))
