"""Stop switches over HTTP."""

from typing import Any

from django.http import HttpRequest
from ninja import Router, Status

from core.access import Right
from core.principal import caller
from tasks_app.api.schemas import ReasonIn, StopIn, StopOut, stop_out
from tasks_app.selectors.stops import stops_in
from tasks_app.services.stops import stop_lift, stop_set

router = Router()


@router.get("", response=list[StopOut])
def listing(request: HttpRequest) -> Any:
    """List the stops that hold in this workspace."""
    who = caller(request, Right.TASKS_READ)
    return [stop_out(switch) for switch in stops_in(workspaces=[who.workspace.pk])]


@router.post("", response={201: StopOut})
def create(request: HttpRequest, body: StopIn) -> Any:
    """Set a stop, an agent none over everything; the answer lists the earlier attempts without outcome."""
    who = caller(request, Right.STOPS_SET)
    if body.scope == "all":
        who.require_person("stops nothing beyond its workspace")
    stop = stop_set(
        workspace=who.workspace,
        scope=body.scope,
        name=body.name,
        reason=body.reason,
        user=who.user,
        actor=who.actor,
    )
    return Status(201, stop_out(stop.switch, stop.attempts))


@router.post("/{int:stop}/lift", response={204: None})
def lift(request: HttpRequest, stop: int, body: ReasonIn) -> Any:
    """Lift a stop; the tasks that it held go on by themselves. An agent frees nothing that was stopped."""
    who = caller(request, Right.STOPS_SET).require_person("lifts no stop")
    stop_lift(workspace=who.workspace, stop=stop, reason=body.reason, user=who.user, actor=who.actor)
    return Status(204, None)
