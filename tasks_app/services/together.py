"""One command to many tasks: each is done or refused on its own, and it is said of each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from core.access import Right
from core.errors import HandrailError, InvalidInput
from core.principal import Principal
from tasks_app.models import Task
from tasks_app.services import intake
from tasks_app.services.cancel import task_cancel
from tasks_app.services.steer import task_pause, task_resume

MOST = 500  # in one request: each is a transaction of its own, of a few milliseconds

COMMANDS: dict[str, Callable[..., Task]] = {"pause": task_pause, "resume": task_resume, "cancel": task_cancel}


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What became of one task. ``refusal`` is empty where it was done, or held already."""

    task: UUID
    status: str = ""
    refusal: str = ""


def tasks_command(*, principal: Principal, tasks: Sequence[UUID], command: str, reason: str) -> list[Told]:
    """Pause, resume or cancel each of these. Raises Forbidden, InvalidInput before any is touched."""
    who = principal.require(Right.TASKS_OPERATE)
    if command not in COMMANDS:
        raise InvalidInput(f"There is no command {command!r}; known: {', '.join(COMMANDS)}.")
    if not 0 < len(tasks) <= MOST:
        raise InvalidInput(f"Between 1 and {MOST} tasks are taken at once; these are {len(tasks)}.")
    reason = intake.text_checked("reason", reason)
    return [_one(who, task, command, reason) for task in tasks]


def _one(who: Principal, task: UUID, command: str, reason: str) -> Told:
    try:
        done = COMMANDS[command](workspace=who.workspace, task=task, actor=who.actor, reason=reason)
    except HandrailError as refused:
        return Told(task=task, refusal=refused.detail)
    return Told(task=task, status=done.status)
