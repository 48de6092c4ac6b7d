"""What an approval's event changes in the rows of its task and call. Pure; the reducer says the same."""

from typing import Any

from tasks_app.models import Task
from tasks_app.record.append import CallChange, Seq
from tasks_app.record.events import After
from tasks_app.status import EXTERNAL_VERSION, CallState, Status, WaitKind


def task_wakes(status: str) -> dict[str, Any]:
    """Return the change of the task's row that makes an answered call due work (A03, case-12).

    Parked: queued and due now. In doubt: due, and still needs a person. With a worker on it: nothing, its next
    append meets the new head and it reads again. Paused, cancelling, quarantined: whoever lets it go on wakes it.
    """
    if status == Status.WAITING:
        return {"status": Status.QUEUED, "wait": None, "wake_at": After(0)}
    return {"wake_at": After(0)} if status in {Status.IN_DOUBT, Status.QUEUED} else {}


def task_approved(task: Task, name: str) -> dict[str, Any]:
    """Return the change of the task's row when this call of it is approved: a worker runs it, or its agent outside."""
    if task.agent_version == EXTERNAL_VERSION and task.status == Status.WAITING:
        return {"wait": {"kind": WaitKind.OUTSIDE, "on": [name]}}
    return task_wakes(task.status)


def call_approved(name: str) -> CallChange:
    """Return the change of a call that may now run."""
    return CallChange(name=name, set={"state": CallState.APPROVED})


def call_closed(name: str, state: CallState, *, ordinal: int = 1) -> CallChange:
    """Return the change of a call that will not run; the n-th event of the append is its answer."""
    return CallChange(
        name=name,
        set={
            "state": state,
            "holds_business_key": False,
            "answer_seq": Seq(ordinal),
            "settled_seq": Seq(ordinal),
        },
    )
