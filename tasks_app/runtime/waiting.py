"""The agent's own waits: for a time, a signal, a child. No worker and no message is held meanwhile."""

from datetime import timedelta
from typing import Any

from core.boundaries import Boundary
from core.clock import database_now
from tasks_app.decisions import WaitForChild, WaitForSignal, WaitUntil
from tasks_app.models import Event, Task
from tasks_app.record.events import ChildSettled, WaitEnded, WaitStarted
from tasks_app.record.events import Event as RecordEvent
from tasks_app.runtime.decided import Decided
from tasks_app.runtime.intending import CannotIntend
from tasks_app.runtime.recorded import event_data
from tasks_app.runtime.session import Session
from tasks_app.status import TERMINAL


def wait_commit(
    session: Session, decision: WaitUntil | WaitForSignal | WaitForChild, step: int, decided: "Decided"
) -> None:
    """Commit ``step.decided`` and ``wait.started`` together; the loop parks the task afterwards."""
    wait = _wait(session.task, decision, step)
    event = WaitStarted(kind=wait["kind"], step=step, name=wait["name"], on=wait.get("on"), until=wait.get("until"))
    session.commit_again(
        lambda: ([decided.event, event], {"task": {**decided.task, "open_wait": wait}}), boundary=Boundary.DECIDE
    )


def _wait(task: Task, decision: WaitUntil | WaitForSignal | WaitForChild, step: int) -> dict[str, Any]:
    base = {"name": decision.name, "step": step}
    match decision:
        case WaitUntil(at=at, seconds=seconds):
            if at is None:
                at = database_now() + timedelta(seconds=seconds or 0.0)
            return {**base, "kind": "timer", "until": at.isoformat()}
        case WaitForSignal(signal=signal, timeout=timeout):
            until = {"until": (database_now() + timedelta(seconds=timeout)).isoformat()} if timeout else {}
            return {**base, "kind": "signal", "on": signal, **until}
        case WaitForChild(child=child):
            if child not in task.child_tasks:
                raise CannotIntend("no-such-child", f"No child was spawned under the name {child!r}.", name=child)
            return {**base, "kind": "child", "on": child}


def wait_over(session: Session) -> bool:
    """End the open wait if what it waits for is there (W01, W02, W04, W05). True when it ended."""
    wait = session.task.open_wait
    first = _ended(session.task, wait) if wait else None
    if wait is None or first is None:
        return False

    def made() -> tuple[list[RecordEvent], dict[str, Any]]:
        # Made anew where others appended: a signal that came meanwhile must not be lost with the row of signals.
        event, change, more = _ended(session.task, wait) or first
        return [*more, event], {"task": {"open_wait": None, "wait": None, **change}}

    session.commit_again(made, boundary=Boundary.WAIT_ENDED)
    return True


def _ended(task: Task, wait: dict[str, Any]) -> tuple[WaitEnded, dict[str, Any], list[ChildSettled]] | None:
    kind, name = wait["kind"], wait["name"]
    if kind == "signal":
        taken = next((signal for signal in task.signals if signal["name"] == wait["on"]), None)
        if taken:
            rest = [signal for signal in task.signals if signal["seq"] != taken["seq"]]
            payload = event_data(task.pk, taken["seq"]).get("payload")
            event = WaitEnded(kind=kind, name=name, why="signal", value=payload, signal_seq=taken["seq"])
            return event, {"signals": rest}, []
    if kind == "child":
        return _child_ended(task, wait)
    if wait.get("until") and database_now().isoformat() >= wait["until"]:
        why = "due" if kind == "timer" else "timeout"
        return WaitEnded(kind=kind, name=name, why=why, value=why), {}, []
    return None


def _child_ended(task: Task, wait: dict[str, Any]) -> tuple[WaitEnded, dict[str, Any], list[ChildSettled]] | None:
    known = task.child_tasks[wait["on"]]
    child = Task.objects.get(pk=known["child"])
    if child.status not in TERMINAL:
        return None
    summary = _summary(child)
    children = {**task.child_tasks, wait["on"]: {**known, "settled": True}}
    settled = ChildSettled(name=wait["on"], child=str(child.pk), status=child.status, summary=summary)
    value = {"child": str(child.pk), "status": child.status, "summary": summary}
    event = WaitEnded(kind="child", name=wait["name"], why="child", value=value)
    return event, {"child_tasks": children}, [] if known["settled"] else [settled]


def _summary(child: Task) -> str | None:
    data = (
        Event.objects.filter(stream=child.pk, kind__in=["task.claimed_complete", "task.failed"])
        .order_by("-seq")
        .values_list("data", flat=True)
        .first()
    )
    return (data.get("summary") or data.get("reason")) if data else None
