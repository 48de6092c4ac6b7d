"""Cancelling: nothing further starts from the commit on; what was attempted is settled first (R03, case-16)."""

from collections.abc import Iterable
from uuid import UUID

from core.errors import HandrailError
from core.hints import after_commit
from core.models import Workspace
from core.row_by_row import row_by_row
from tasks_app.gate import gate
from tasks_app.models import Task
from tasks_app.parents import parent_wake
from tasks_app.record.append import CallChange, Seq
from tasks_app.record.events import (
    After,
    ApprovalVoided,
    CallWithdrawn,
    Event,
    TaskCancelled,
    TaskCancelRequested,
)
from tasks_app.services import intake
from tasks_app.services.command import Command, command
from tasks_app.services.steer import refuse
from tasks_app.status import ATTEMPT_OPEN, OPEN, TERMINAL, CallState, Status

VOIDED = "task cancelled"


def task_cancel(*, workspace: Workspace, task: UUID, actor: str, reason: str) -> Task:
    """Cancel a task: void its approvals, withdraw what was only intended, end it once no attempt is open.

    Its children get cancel requests of their own afterwards; those that a crash leaves out are found by
    ``children_cancel``. Raises NotFound, InvalidInput, NotNow (it has completed or failed).
    """
    reason = intake.text_checked("reason", reason)
    with command(workspace=workspace, task=task, actor=actor) as here:
        if here.task.status not in {Status.CANCELLING, Status.CANCELLED}:
            _cancel(here, reason)
    _children(Task.objects.filter(parent_id=task))
    return Task.objects.get(pk=task)


def _cancel(here: Command, reason: str) -> None:
    if here.task.status in TERMINAL:
        raise refuse(here.task, "cancelled", instead="It has ended; what it did stands.")
    states = here.call_states()
    voided = gate().void(task=here.task.id, names=None, reason=VOIDED)
    events: list[Event] = [TaskCancelRequested(reason=reason), *voided]
    stopped = _stopped(states, voided, events)
    if ATTEMPT_OPEN.isdisjoint(states.values()):
        events.append(TaskCancelled(reason=reason))
        here.record(*events, task=ENDED, calls=stopped)
        after_commit(lambda: _parent_told(here.task))
        return
    leased = here.task.lease_nonce is not None
    change = {"status": Status.CANCELLING, "wait": None} | ({} if leased else {"wake_at": After(0)})
    here.record(*events, task=change, calls=stopped, due=not leased)


def _parent_told(task: Task) -> None:
    if task.parent_id:
        parent_wake(parent=task.parent_id, child=task.id)


# The lease goes with the task: a worker that thinks just now is refused at its next append and stops.
ENDED = {
    "status": Status.CANCELLED,
    "ended_at": After(0),
    "wake_at": None,
    "wait": None,
    "open_wait": None,
    "claim": None,
    "lease_holder": "",
    "lease_nonce": None,
    "lease_until": None,
}


def _stopped(states: dict[str, CallState], voided: Iterable[Event], events: list[Event]) -> list[CallChange]:
    """Add the withdrawal of each call that was not attempted to ``events``; return the changes of their rows."""
    by_void = {event.name: at for at, event in enumerate(voided, start=2) if isinstance(event, ApprovalVoided)}
    changes = []
    for name, state in sorted(states.items()):
        if state not in OPEN - ATTEMPT_OPEN:
            continue
        if name in by_void:
            changes.append(_change(name, CallState.VOIDED, by_void[name]))
        else:
            events.append(CallWithdrawn(name=name, reason=VOIDED))
            changes.append(_change(name, CallState.WITHDRAWN, len(events)))
    return changes


def _change(name: str, state: CallState, ordinal: int) -> CallChange:
    seq = Seq(ordinal)
    return CallChange(
        name=name, set={"state": state, "holds_business_key": False, "settled_seq": seq, "answer_seq": seq}
    )


def children_cancel(*, limit: int = 100) -> int:
    """Cancel living children of cancelled tasks (a crash may have left them out); return how many were asked."""
    left = Task.objects.filter(parent__status__in=[Status.CANCELLING, Status.CANCELLED])
    return _children(left.exclude(status__in=[*TERMINAL, Status.CANCELLING]).order_by("pk")[:limit])


def _children(children: Iterable[Task]) -> int:
    return row_by_row(children, _child)


def _child(child: Task) -> int:
    if child.status in TERMINAL or child.status == Status.CANCELLING:
        return 0
    try:
        task_cancel(workspace=child.workspace, task=child.id, actor="system", reason="Its parent was cancelled.")
    except HandrailError:  # it ended meanwhile
        return 0
    return 1
