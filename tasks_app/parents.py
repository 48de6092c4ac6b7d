"""Waking the parent of a child that has ended (W04): the one place that does it, whoever ended the child."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db.models import Case, Exists, F, Func, OuterRef, QuerySet, TextField, UUIDField, Value, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce

from core.clock import ClockTimestamp
from tasks_app.models import Status, Task, WaitKind
from tasks_app.status import TERMINAL
from tasks_app.wake import wake


def parent_wake(*, parent: UUID, child: UUID) -> bool:
    """Make due a parent that is parked for the end of this child; say whether it was. A hint: the sweeper looks too.

    Call it after the child's end is committed: no transaction locks two tasks.
    """
    row = Task.objects.filter(pk=parent).values("open_wait", "child_tasks").first()
    if row is None or not awaits(child, row["open_wait"], row["child_tasks"]):
        return False
    # Conditional: a parent that a worker holds looks once more when it has parked.
    parked = Task.objects.filter(pk=parent, status=Status.WAITING, lease_nonce=None)
    if not parked.update(wake_at=ClockTimestamp()):
        return False
    wake(parent)
    return True


def parent_parked(*, parent: UUID, child: UUID) -> bool:
    """Wake a parent that has just parked, where its child ended after it had looked; say whether it was.

    Such a child found its parent held and woke nobody; one that ends from now on finds it parked.
    """
    return Task.objects.filter(pk=child, status__in=TERMINAL).exists() and parent_wake(parent=parent, child=child)


def awaits(child: UUID, wait: Mapping[str, Any] | None, children: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether an open wait is for this child, named by its id or by the name that the agent gave it."""
    names = {name for name, entry in children.items() if entry.get("child") == str(child)}
    return wait is not None and wait.get("kind") == "child" and wait.get("on") in names | {str(child)}


def parents_asleep() -> QuerySet[Task, tuple[UUID, UUID]]:
    """Select (parent, child) of the parents that are parked for a child that has ended, the oldest parents first.

    Asked from the parent's side, each by the one child that it awaits: it may have any number of others that ended.
    """
    on = KeyTextTransform("on", "open_wait")
    path = [F("child_tasks"), on, Value("child")]
    named = Func(*path, function="jsonb_extract_path_text", output_field=TextField())
    parked = Task.objects.filter(status=Status.WAITING, wait__kind=WaitKind.CHILD, wake_at=None)
    asked = parked.annotate(on=Coalesce(named, on)).annotate(
        child=Case(When(on__regex=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", then=Cast("on", UUIDField())))
    )
    ended = Task.objects.filter(pk=OuterRef("child"), parent=OuterRef("pk"), status__in=TERMINAL)
    return asked.filter(Exists(ended)).order_by("pk").values_list("pk", "child")
