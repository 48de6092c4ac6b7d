"""An operator's command: lock the task row, check, append at the head. It never loses to a busy worker."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction

from core.boundaries import Boundary, Position, cross
from core.errors import NotFound
from core.hints import after_commit, live_hint
from core.models import Workspace
from tasks_app.models import Call, Event, Task
from tasks_app.record.append import Appended, CallChange, append
from tasks_app.record.events import Event as Said
from tasks_app.status import ATTEMPT_OPEN, CallState
from tasks_app.task_lock import tasks_locked
from tasks_app.wake import wake


@dataclass(slots=True, kw_only=True)
class Command:
    """A locked task and who commands it; lives inside ``command()``."""

    task: Task
    actor: str

    def record(
        self,
        *events: Said,
        task: Mapping[str, Any] | None = None,
        calls: Sequence[CallChange] = (),
        due: bool = False,
        after_end: bool = False,
    ) -> Appended:
        """Append, with the changes of the rows; once committed tell live pages, and a worker if it is now due."""
        done = append(stream=self.task.id, events=events, actor=self.actor, task=task, calls=calls, after_end=after_end)
        announce(task=self.task.id, workspace=self.task.workspace_id, seq=done.head_seq, due=due)
        return done

    def attempts_open(self) -> bool:
        """Tell whether an attempt may still act outside, or has acted and nobody has settled it."""
        return Call.objects.filter(task=self.task, state__in=sorted(ATTEMPT_OPEN)).exists()

    def said(self, kind: str, *, name: str) -> bool:
        """Tell whether the record has an event of this kind about that call."""
        return Event.objects.filter(stream=self.task.id, kind=kind, data__name=name).exists()

    def call_states(self) -> dict[str, CallState]:
        """Return the state of every call by name."""
        return {name: CallState(state) for name, state in self.task.calls.values_list("name", "state")}


@contextmanager
def command(*, workspace: Workspace, task: UUID, actor: str) -> Iterator[Command]:
    """Hold the task row locked for one operator's command in one transaction (O01).

    Raises NotFound for an unknown task and for one of another workspace alike.
    """
    with crossing(Boundary.OPERATOR, task=task), transaction.atomic():
        yield command_locked(workspace=workspace, task=task, actor=actor)


def command_locked(*, workspace: Workspace, task: UUID, actor: str) -> Command:
    """Lock the task row inside the caller's transaction. Raises NotFound."""
    row = tasks_locked().filter(workspace=workspace, pk=task).first()
    if row is None:
        raise NotFound
    return Command(task=row, actor=actor)


@contextmanager
def crossing(boundary: Boundary, *, task: UUID | None) -> Iterator[None]:
    """Cross a boundary before and after a transaction; it is the one place for what people send."""
    cross(boundary, Position.BEFORE, task=task)
    yield
    cross(boundary, Position.AFTER, task=task)


def announce(*, task: UUID, workspace: UUID, seq: int, due: bool) -> None:
    """Once committed: tell live pages, and where the task is due ask a worker to look. Both may be lost."""
    after_commit(lambda: live_hint(stream=task, workspace=workspace, seq=seq))
    if due:
        wake(task)
