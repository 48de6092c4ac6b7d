"""What was asked of people for a task, as its record tells: each approval with everything that was said of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from tasks_app.models import Event, Task
from tasks_app.runtime.recorded import data_whole

MOST = 500  # of the newest events that one page shows

# The last of these says in which state the approval is; the others leave it as it was.
STATES: Mapping[str, str] = {
    "approval.requested": "requested",
    "approval.expired": "expired",
    "approval.lapsed": "lapsed",
    "approval.consumed": "consumed",
    "approval.voided": "voided",
    "approval.revoked": "revoked",
}


@dataclass(slots=True, kw_only=True)
class Asked:
    """One approval. ``line``: what the agent asked for, in its words; ``status``: its word, ``why``: of its end."""

    approval: str
    name: str
    events: list[Event]
    line: str = ""
    status: str = "requested"
    why: str = ""


def approvals_asked(task: Task) -> list[Asked]:
    """Return the approvals of a task, the newest first, each with its events in order."""
    found = Event.objects.filter(stream=task.pk, kind__startswith="approval.").order_by("-seq")[:MOST]
    asked: dict[str, Asked] = {}
    for event in reversed(found):
        event.data = data_whole(event.stream, event.data)
        key = str(event.data.get("approval", ""))
        one = asked.setdefault(key, Asked(approval=key, name=str(event.data.get("name", "")), events=[]))
        one.events.append(event)
        one.line = str(event.data.get("line") or one.line)
        if event.kind == "approval.decided":
            one.status = str(event.data.get("decision", ""))
        one.status = STATES.get(event.kind, one.status)
        one.why = str(event.data.get("reason") or "") if event.kind == "approval.voided" else one.why
    return list(asked.values())[::-1]
