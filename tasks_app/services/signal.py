"""Signals: kept until a wait takes them; the same request key twice is one signal (W01)."""

from typing import Any
from uuid import UUID

from core.boundaries import Boundary
from core.models import Workspace
from tasks_app.record.events import After, SignalReceived
from tasks_app.services import intake
from tasks_app.services.command import Command, command_locked, crossing
from tasks_app.services.requests import Answer, request_of, request_once
from tasks_app.services.steer import refuse
from tasks_app.status import TERMINAL, Status, WaitKind

MOST_WAITING = 1000  # signals of one task that no wait has taken yet


def signal_send(
    *, workspace: Workspace, task: UUID, actor: str, name: str, payload: Any = None, request_key: str | None = None
) -> Answer:
    """Send a signal; the answer names its sequence, and whether this sending was the first of its key.

    Raises NotFound, InvalidInput, TooLarge, RequestKeyReused, NotNow (the task has ended or is cancelling).
    """
    name = intake.text_checked("name", name, limit=120)
    body = {"signal": [str(task), name, payload]}
    request = request_of(workspace=workspace, actor=actor, key=request_key, body=body) if request_key else None
    stored = intake.json_checked("payload", payload, limit=intake.PAYLOAD_LIMIT)

    def work() -> Answer:
        here = command_locked(workspace=workspace, task=task, actor=actor)
        return _send(here, SignalReceived(name=name, payload=stored, request_key=request_key))

    with crossing(Boundary.SIGNAL, task=task):
        return request_once(request, work)


def _send(here: Command, signal: SignalReceived) -> Answer:
    task = here.task
    if task.status in TERMINAL or task.status == Status.CANCELLING:
        raise refuse(task, "signalled", instead="No wait of it will ever take a signal.")
    if len(task.signals) >= MOST_WAITING:
        raise refuse(task, "signalled", instead=f"{MOST_WAITING} signals wait already for a wait that takes them.")
    seq = task.head_seq + 1  # the row is locked: nobody else raises the head
    # A worker that is just starting its wait meets the raised head, reads again, and takes the signal.
    waits = task.status == Status.WAITING and (task.wait or {}).get("kind") == WaitKind.SIGNAL
    change: dict[str, Any] = {"signals": [*task.signals, {"seq": seq, "name": signal.name}]}
    if waits:
        change["wake_at"] = After(0)
    here.record(signal, task=change, due=waits)
    return Answer(stream=task.id, seq=seq)
