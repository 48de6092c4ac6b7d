"""Checking the evidence of a completed task again: it stays completed; what is gone is said (evidence.gone).

A person asks; a worker looks, since only workers carry the checks and may wait for the outside.
"""

from typing import Any
from uuid import UUID

from core.errors import Unavailable
from core.models import Workspace
from tasks_app.criteria import Criterion, check_of
from tasks_app.models import Event, Task
from tasks_app.record.events import Event as Fact
from tasks_app.record.events import EvidenceGone
from tasks_app.runtime.completing import criteria_check, missing_of
from tasks_app.runtime.recorded import data_whole
from tasks_app.selectors.tasks import task_get
from tasks_app.services.command import command
from tasks_app.services.steer import refuse, task_resume
from tasks_app.status import Status
from tasks_app.sweeper_row import POOL
from tasks_app.wake import RECHECK, send_now
from tasks_app.workers import workers_alive


def recheck_ask(*, workspace: Workspace, task: UUID, actor: str) -> int:
    """Ask a worker to check a completed task once more; returns the sequence after which its evidence will follow.

    An unverified task is resumed: a worker checks it, and completes it if all holds. The request is a message; where
    it is lost on its way nothing happens, and it may be asked for again.
    Raises NotFound, NotNow (neither completed nor unverified), Unavailable (no worker, or no broker to reach one).
    """
    row = task_get(workspace=workspace, task=task)
    if row.status == Status.UNVERIFIED:
        return task_resume(workspace=workspace, task=task, actor=actor, reason="check again").head_seq
    if row.status != Status.COMPLETED:
        raise refuse(row, "checked again", instead="Only what has completed, or is unverified, can be.")
    if not workers_alive().exclude(pool=POOL).exists():
        raise Unavailable("No worker lives that could look; start one, then ask again.")
    if not send_now(RECHECK, str(task), str(workspace.pk), actor):
        raise Unavailable("The broker does not answer, so no worker could be asked; ask again in a moment.")
    return row.head_seq


def task_recheck(*, workspace: Workspace, task: UUID, actor: str) -> list[dict[str, Any]]:
    """Check the criteria of a completed task once more, here and now; return those that no longer hold.

    Raises NotFound, NotNow (not completed, or a check that this process does not carry).
    """
    row = task_get(workspace=workspace, task=task)
    if row.status != Status.COMPLETED:
        raise refuse(row, "checked again here", instead="Only what has completed can be.")
    claims = _claims(row)
    _carried(row, claims)
    # The world is read before the transaction: none is open across anything outside.
    checked = criteria_check(row, claims)
    missing = missing_of(checked)
    with command(workspace=workspace, task=task, actor=actor) as here:
        events: list[Fact] = [one.event() for one in checked]
        here.record(*events, *([EvidenceGone(missing=missing)] if missing else []), after_end=True)
    return missing


def _claims(task: Task) -> list[Any]:
    last = Event.objects.filter(stream=task.pk, kind="task.claimed_complete").order_by("-seq").first()
    return list(data_whole(task.pk, last.data).get("claims", [])) if last else []


def _carried(task: Task, claims: list[Any]) -> None:
    unknown = {
        one.check for item in [*task.done_when, *claims] if check_of((one := Criterion.from_json(item)).check) is None
    }
    if unknown:
        raise refuse(
            task,
            "checked again here",
            instead=f"This process carries no check {', '.join(sorted(unknown))}; set HANDRAIL_MODULES for it.",
        )
