"""Pinning: a takeover of a real task becomes a case that is run again."""

from uuid import UUID

from django.contrib.auth.models import User

from chaos_app.drills.pinning import NotReproducible, Own, pinned
from chaos_app.models import DrillPin
from chaos_app.selectors.targets import targets_offered
from core.clock import database_now
from core.errors import Conflict, NotFound
from core.models import Workspace
from tasks_app.models import Event, LateWrite, Task
from tasks_app.record.reducing_calls import Fact
from tasks_app.timeline.cause import CAUSE_KINDS


class NoSuchDrill(Conflict):
    """No drill makes this takeover again."""

    code = "not-reproducible"


def takeover_pin(*, workspace: Workspace, user: User, task: UUID, lost: int) -> DrillPin:
    """Keep the case that reproduces a takeover; pinning it again is the same pin. Raises NotFound, NoSuchDrill."""
    row = Task.objects.filter(workspace=workspace, pk=task).first()
    if row is None:
        raise NotFound
    facts = _facts(task, lost)
    try:
        found = pinned(facts, lost, came_back=_came_back(task, facts), own=_own(row.agent))
    except NotReproducible as why:
        raise NoSuchDrill(str(why)) from why
    except ValueError as error:
        raise NotFound(str(error)) from error
    made = {"cell": found.cell, "target": found.target, "note": found.says, "by": user, "at": database_now()}
    pin, _ = DrillPin.objects.update_or_create(
        workspace=workspace,
        task=task,
        lost_seq=lost,
        defaults={"cell": found.cell, "target": found.target, "note": found.says},
        create_defaults=made,
    )
    return pin


def _facts(task: UUID, lost: int) -> list[Fact]:
    rows = Event.objects.filter(stream=task, seq__lte=lost, kind__in=CAUSE_KINDS).order_by("seq")
    return [Fact(seq=r.seq, kind=r.kind, data=r.data, at=r.at, epoch=r.epoch, actor=r.actor) for r in rows]


def _came_back(task: UUID, facts: list[Fact]) -> bool:
    """Whether the lost worker wrote after its loss: then it had only been stopped, or cut off."""
    epoch = int(facts[-1].data.get("lost_epoch") or 0) if facts else 0
    late = LateWrite.objects.filter(stream=task, presented_epoch=epoch).exists()
    return late or Event.objects.filter(stream=task, kind="call.late_receipt", epoch=epoch).exists()


def _own(agent: str) -> list[Own]:
    """Return the targets that drill this agent."""
    return [
        Own(path=one.path, name=one.name, call=one.call, tool=one.tool, holds=one.holds)
        for one in targets_offered()
        if one.agent == agent and not one.problem
    ]
