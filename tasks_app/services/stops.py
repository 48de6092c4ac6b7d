"""Stop switches: no attempt in the scope commits after one is set; decisions and look-ups go on (rule 14)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from core.clock import ClockTimestamp
from core.errors import Forbidden, NotFound
from core.hints import after_commit, group_hint
from core.models import Workspace
from core.standstill import lock_for_all
from tasks_app.models import StopSwitch, Task
from tasks_app.record.append import append_administration
from tasks_app.record.events import SwitchChanged
from tasks_app.selectors.stops import attempts_before, stop_visible
from tasks_app.services import intake
from tasks_app.status import Status, WaitKind
from tasks_app.wake import wake

GROUP = "stops"  # of the live pages that show stops, whatever their workspace
STOP_LOCK = 7201  # every attempt's commit takes it shared (handrail_admission), a change takes it exclusively
SCOPES = ("all", "workspace", "agent", "tool")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """A standing stop, and the attempts that were committed before it and have no outcome yet.

    Each of them may still send until its ``send_by``.
    """

    switch: StopSwitch
    attempts: list[Mapping[str, Any]]


def stop_set(*, workspace: Workspace, scope: str, name: str = "", reason: str, user: User, actor: str) -> Stop:
    """Set a stop over everything, this workspace, an agent or a tool. Setting it again is the same answer.

    Raises InvalidInput; Forbidden for "all", which reaches beyond a workspace, unless ``user`` runs the deployment.
    """
    place = _place(workspace, scope, name, user)
    reason = intake.text_checked("reason", reason, limit=500)
    with transaction.atomic():
        _lock()
        switch = StopSwitch.objects.filter(**place).first()
        if switch is None:
            switch = StopSwitch.objects.create(**place, reason=reason, set_by=user)
            _record(workspace, actor, switch, before=None, after={"reason": reason}, reason=reason)
        return Stop(switch=switch, attempts=attempts_before(switch))


def stop_lift(*, workspace: Workspace, stop: int, reason: str, user: User, actor: str) -> None:
    """Lift a stop; tasks that it held go on by themselves. Raises NotFound, Forbidden, InvalidInput."""
    reason = intake.text_checked("reason", reason, limit=500)
    with transaction.atomic():
        _lock()
        switch = StopSwitch.objects.filter(stop_visible(workspace), pk=stop).first()
        if switch is None:
            raise NotFound
        _may_reach(switch.scope, user)
        _record(workspace, actor, switch, before={"reason": switch.reason}, after=None, reason=reason)
        switch.delete()
    _wake_held(switch)


def _wake_held(switch: StopSwitch) -> None:
    """Ask for a look at the tasks that waited for it; one that a crash leaves out looks again by its own clock."""
    held = Task.objects.filter(status=Status.WAITING, wait__kind=WaitKind.STOP)
    if switch.scope != "all":
        held = held.filter(workspace=switch.workspace)
    for task in held.values_list("pk", flat=True).iterator():
        # A worker may have claimed it meanwhile: then it waits no more, and no row is changed.
        if held.filter(pk=task).update(wake_at=ClockTimestamp()):
            wake(task)


def _place(workspace: Workspace, scope: str, name: str, user: User) -> dict[str, Any]:
    if scope not in SCOPES:
        raise intake.field_error("scope", f"must be one of {', '.join(SCOPES)}.")
    _may_reach(scope, user)
    if scope in {"agent", "tool"}:
        name = intake.text_checked("name", name, limit=120)
    elif name:
        raise intake.field_error("name", f"a stop of scope {scope!r} takes no name.")
    return {"scope": scope, "workspace": None if scope == "all" else workspace, "name": name}


def _may_reach(scope: str, user: User) -> None:
    if scope == "all" and not user.is_superuser:
        raise Forbidden(
            "A stop over everything reaches beyond this workspace; whoever runs this deployment sets and lifts it."
        )


def _lock() -> None:
    """Wait for every attempt that is being committed; whoever commits later sees what we did."""
    lock_for_all(STOP_LOCK)


def _record(workspace: Workspace, actor: str, switch: StopSwitch, *, before: Any, after: Any, reason: str) -> None:
    what = f"stop {switch.scope} {switch.name}".strip()
    event = SwitchChanged(what=what, before=before, after_change=after, reason=reason)
    append_administration(workspace=workspace.id, events=[event], actor=actor)
    after_commit(partial(group_hint, group=GROUP))
