"""The data of one event, with its large values read back."""

from typing import Any

from approvals_app.models import ApprovalRequest
from tasks_app.models import Blob, Call, Event
from tasks_app.record.payload import resolve


def event_whole(event: Event) -> dict[str, Any]:
    """Return an event's data; raises BlobMismatch where a stored value is not the one referred to."""

    def load(sha256: str) -> bytes:
        return bytes(Blob.objects.values_list("content", flat=True).get(stream=event.stream, sha256=sha256))

    whole: dict[str, Any] = resolve(event.data, load)
    return whole


def intended_of(request: ApprovalRequest) -> dict[str, Any]:
    """Return the data of the ``call.intended`` event that a request is for; its arguments are whole."""
    seq = Call.objects.values_list("intended_seq", flat=True).get(task=request.task_id, name=request.name)
    return event_whole(Event.objects.get(stream=request.task_id, seq=seq))


def reason_of(request: ApprovalRequest) -> str:
    """Return what the agent said when it asked."""
    asked = Event.objects.filter(stream=request.task_id, kind="approval.requested", data__approval=str(request.pk))
    found = asked.first()
    return str(event_whole(found).get("reason") or "") if found else ""
