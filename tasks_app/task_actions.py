"""What may be done to a task now, by whom, and why not: for the buttons. The services decide when it is sent."""

from dataclasses import dataclass

from core.access import Right
from core.principal import Principal
from tasks_app.models import Task
from tasks_app.services.steer import PAUSABLE, RESUMABLE
from tasks_app.status import TERMINAL, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One action. ``why_not`` is empty where it is possible; ``says`` what it will do."""

    name: str
    label: str
    says: str
    why_not: str = ""
    reason: str = "required"  # required, optional, none
    danger: bool = False


def task_actions(task: Task, principal: Principal) -> list[Action]:
    """Return every action, in the order of the page: what cannot be undone stands last."""
    of_state = (_pause, _resume, _recheck, _signal)
    return [*(action(task, principal) for action in of_state), _copy(principal), _cancel(task, principal)]


def _no(principal: Principal, right: Right, why: str) -> str:
    return why if principal.may(right) else f"You do not have the right {right.value} in this workspace."


def _pause(task: Task, principal: Principal) -> Action:
    why = "" if task.status in PAUSABLE else f"The task is {_plain(task)}; only what is due, runs or waits is paused."
    says = "No further attempt is made. Attempts that are open are still looked up and settled."
    return Action(name="pause", label="Pause", says=says, why_not=_no(principal, Right.TASKS_OPERATE, why))


def _resume(task: Task, principal: Principal) -> Action:
    stopped = task.status == Status.QUARANTINED
    why = "" if task.status in RESUMABLE - {Status.UNVERIFIED} else f"The task is {_plain(task)}, not paused."
    says = "The lost workers are forgotten and it is tried again." if stopped else "The task goes on where it was."
    return Action(
        name="resume",
        label="Release" if stopped else "Resume",
        says=says,
        reason="optional",
        why_not=_no(principal, Right.TASKS_OPERATE, why),
    )


def _recheck(task: Task, principal: Principal) -> Action:
    may = task.status in {Status.UNVERIFIED, Status.COMPLETED}
    why = "" if may else "Only what has completed, or says that it is done, can be checked again."
    says = "Every criterion is read again from the outside world."
    return Action(
        name="recheck",
        label="Check again",
        says=says,
        reason="none",
        why_not=_no(principal, Right.TASKS_OPERATE, why),
    )


def _cancel(task: Task, principal: Principal) -> Action:
    ended = task.status in TERMINAL or task.status == Status.CANCELLING
    why = f"The task is {_plain(task)}." if ended else ""
    says = "Nothing further starts; approvals are withdrawn; what was attempted is settled first. It cannot be undone."
    refused = _no(principal, Right.TASKS_OPERATE, why)
    return Action(name="cancel", label="Cancel the task", says=says, danger=True, why_not=refused)


def _signal(task: Task, principal: Principal) -> Action:
    ended = task.status in TERMINAL or task.status == Status.CANCELLING
    why = f"The task is {_plain(task)}; no wait of it will take a signal." if ended else ""
    says = "It is kept until a wait of the agent takes it."
    refused = _no(principal, Right.TASKS_OPERATE, why)
    return Action(name="signal", label="Send a signal", says=says, reason="none", why_not=refused)


def _copy(principal: Principal) -> Action:
    says = "A new task from a settled step of this one. It repeats effects: its calls, keys and approvals are new."
    refused = _no(principal, Right.TASKS_CREATE, "")
    return Action(name="copy", label="Start a copy", says=says, reason="none", why_not=refused)


def _plain(task: Task) -> str:
    return str(task.status).replace("_", " ")
