"""Pinning: a takeover of a real task becomes a case that is run again."""

from uuid import UUID

from django.contrib.auth.models import User

from chaos_app.drills.pinning import cell_of
from chaos_app.models import DrillPin
from core.clock import database_now
from core.errors import NotFound
from core.models import Workspace
from tasks_app.models import Event, Task
from tasks_app.record.reducing_calls import Fact
from tasks_app.timeline.cause import CAUSE_KINDS


def takeover_pin(*, workspace: Workspace, user: User, task: UUID, lost: int) -> DrillPin:
    """Keep the case that reproduces a takeover; pinning it again is the same pin. Raises NotFound."""
    if not Task.objects.filter(workspace=workspace, pk=task).exists():
        raise NotFound
    rows = Event.objects.filter(stream=task, seq__lte=lost, kind__in=CAUSE_KINDS).order_by("seq")
    facts = [Fact(seq=r.seq, kind=r.kind, data=r.data, at=r.at, epoch=r.epoch, actor=r.actor) for r in rows]
    try:
        cell = cell_of(facts, lost)
    except ValueError as error:
        raise NotFound(str(error)) from error
    made = {"cell": cell.id, "note": f"Task {task}, event {lost}", "by": user, "at": database_now()}
    pin, _ = DrillPin.objects.get_or_create(workspace=workspace, task=task, lost_seq=lost, defaults=made)
    return pin
