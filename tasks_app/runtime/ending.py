"""Letting go of a task: released, parked, or ended."""

from datetime import datetime
from typing import Any

from core.boundaries import Boundary, Position, cross
from tasks_app.gate import OVER_CAP
from tasks_app.parents import parent_wake
from tasks_app.record.append import Stale
from tasks_app.record.events import After, Event, SliceReleased, TaskCancelled, TaskFailed, WaitStarted
from tasks_app.runtime.session import Session
from tasks_app.status import CallState, Status, WaitKind
from tasks_app.wake import wake

NO_LEASE: dict[str, Any] = {"lease_holder": "", "lease_nonce": None, "lease_until": None}


def slice_end(
    session: Session,
    why: str,
    *,
    task: dict[str, Any],
    events: list[Event] | None = None,
    boundary: Boundary = Boundary.RELEASE,
) -> bool:
    """Commit the end of this slice. False where somebody appended meanwhile: refresh was done, think again."""
    release = SliceReleased(why=why, worker=session.lease.holder)
    try:
        session.commit([*(events or []), release], task={**NO_LEASE, **task}, boundary=boundary)
    except Stale:
        session.refresh()
        return False
    session.over = True
    return True


def task_fail(session: Session, *, cause: str, reason: str) -> None:
    """End the task as failed."""
    _finish(session, Status.FAILED, TaskFailed(cause=cause, reason=reason))


def task_cancelled(session: Session) -> bool:
    """End a cancelling task: no attempt is open any more."""
    return _finish(session, Status.CANCELLED, TaskCancelled(reason="Cancel was asked for; no attempt is open."))


def _finish(session: Session, status: Status, event: Event, *, boundary: Boundary = Boundary.COMPLETE) -> bool:
    done = slice_end(session, "finished", task=terminal(status), events=[event], boundary=boundary)
    if done:
        task_ended(session)
    return done


def terminal(status: Status) -> dict[str, Any]:
    """Return the row changes of a terminal status."""
    return {"status": status, "ended_at": After(0), "wake_at": None, "wait": None, "open_wait": None, "claim": None}


def task_ended(session: Session) -> None:
    """After a terminal commit: hints only (F03, W04); the sweeper covers their loss."""
    cross(Boundary.COMPLETED, Position.BEFORE, task=session.lease.task)
    if session.task.parent_id:
        cross(Boundary.CHILD_ENDED, Position.BEFORE, task=session.lease.task)
        parent_wake(parent=session.task.parent_id, child=session.lease.task)


def hand_over(session: Session, why: str) -> bool:
    """Give the task back as due work (drain, bound): the next slice goes on."""
    done = slice_end(session, why, task={**_stay(session, Status.QUEUED), "wake_at": After(0)})
    if done:
        wake(session.lease.task)
    return done


def _stay(session: Session, otherwise: Status) -> dict[str, Any]:
    """Paused and cancelling stay what they are; any other status becomes ``otherwise``."""
    return {} if session.status in {Status.PAUSED, Status.CANCELLING} else {"status": otherwise}


def park(
    session: Session, *, until: datetime | None, asked: bool, elsewhere: bool = False, outside: bool = False
) -> bool:
    """Let go of a task whose open calls wait: for a person, a time, a limit, a stop to be lifted, another worker."""
    doubt = any(row.state == CallState.IN_DOUBT for row in session.open.values())
    wait, wake_at = _waiting_for(session, until, asked, elsewhere)
    if outside and (until is not None or session.status == Status.RUNNING):
        wait, wake_at = {"kind": WaitKind.OUTSIDE, "on": sorted(session.open)}, until
        wait |= {"until": str(until)} if until else {}
    status = Status.IN_DOUBT if doubt and wake_at is None else Status.WAITING
    # Paused or cancelling, and nothing to look at: it waits for nothing of its own.
    idle = session.status != Status.RUNNING and wake_at is None and not doubt
    change = {**_stay(session, status), "wait": None if idle else wait, "wake_at": wake_at}
    events: list[Event] = []
    if status == Status.WAITING and not idle:
        on = wait.get("on")
        events = [WaitStarted(kind=wait["kind"], step=session.task.step, on=on, until=str(until) if until else None)]
    return slice_end(session, "parked", task=change, events=events)


def _waiting_for(
    session: Session, until: datetime | None, asked: bool, elsewhere: bool
) -> tuple[dict[str, Any], After | datetime | None]:
    names = sorted(session.open)
    if elsewhere:
        return {"kind": WaitKind.WORKER_VERSION, "on": names}, After(1.0)
    if session.stopped and session.status == Status.RUNNING:
        kind = WaitKind.STOP if session.stopped.startswith("stopped") else WaitKind.LIMIT
        # People take their time: whoever closes a request makes the task due.
        again = 30.0 if session.stopped.startswith(OVER_CAP) else 1.0
        return {"kind": kind, "on": session.stopped}, After(again)
    if until is not None:
        kind = WaitKind.WORK if any(r.state == CallState.STARTED for r in session.open.values()) else WaitKind.LOOK_UP
        return {"kind": kind, "on": names, "until": str(until)}, until
    if asked or session.status != Status.RUNNING or all(r.state == CallState.IN_DOUBT for r in session.open.values()):
        return {"kind": WaitKind.APPROVAL, "on": names}, None
    return {"kind": WaitKind.LOOK_UP, "on": names}, After(2.0)  # refused for now: look again
