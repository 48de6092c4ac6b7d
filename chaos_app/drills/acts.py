"""What a person, a program or the sweeper does in a drill: through the product's own services, as a page would."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from pydantic import TypeAdapter

from approvals_app.models import ApprovalRequest
from approvals_app.services.decide import approval_decide
from approvals_app.services.edit import approval_edit
from approvals_app.services.revoke import approval_revoke
from approvals_app.status import Answer, Via
from chaos_app.drills.copies import COPIED_AFTER
from chaos_app.drills.evidence import TaskRecord
from chaos_app.drills.naive import naive_run
from core.access import Role
from core.errors import HandrailError
from core.models import Membership, Workspace
from core.principal import Principal
from tasks_app.models import Call, Event
from tasks_app.services.cancel import task_cancel
from tasks_app.services.copy import task_copy
from tasks_app.services.create import task_create
from tasks_app.services.settle import call_settle
from tasks_app.services.signal import signal_send
from tasks_app.services.steer import task_pause, task_resume
from tasks_app.services.stops import stop_lift, stop_set
from tasks_app.sweeper import Sweeper
from tasks_app.wake import wake_now

Json = dict[str, Any]
SLUG = "drill"
OWNER, APPROVER, EDITOR = "rhea", "silas", "vera"


def people_create() -> None:
    """Make the drill's workspace and its people."""
    workspace = Workspace.objects.create(slug=SLUG, name="Drill")
    for name, roles in (
        (OWNER, (Role.ENGINEER, Role.APPROVER)),
        (APPROVER, (Role.OPERATOR, Role.APPROVER)),
        (EDITOR, (Role.APPROVER,)),
    ):
        user = User.objects.create(username=name)
        Membership.objects.bulk_create([Membership(user=user, workspace=workspace, role=role) for role in roles])


def _workspace() -> Workspace:
    return Workspace.objects.get(slug=SLUG)


def _principal(name: str) -> Principal:
    user, workspace = User.objects.get(username=name), _workspace()
    roles = Membership.objects.filter(user=user, workspace=workspace).values_list("role", flat=True)
    return Principal(user=user, workspace=workspace, roles=frozenset(map(Role, roles)))


def create(order: Json) -> Json:
    """Create the task of a case; the same request key again is the same task (B01)."""
    task = task_create(
        workspace=_workspace(),
        owner=User.objects.get(username=OWNER),
        actor=f"person:{OWNER}",
        agent=order["agent"],
        intent=order["intent"],
        title=order["title"],
        labels=order["labels"],
        request_key=order["key"],
    )
    return {"task": str(task.pk)}


def _decide(order: Json, answer: Answer) -> Json:
    request = ApprovalRequest.objects.get(pk=order["approval"])
    try:
        outcome = approval_decide(
            approval=request.pk,
            principal=_principal(APPROVER),
            decision=answer,
            reason=order.get("reason", "as the drill says"),
            digest=request.digest,
            via=Via.API,
        )
    except HandrailError as error:
        return {"refused": error.detail, "status": error.status}
    return {"new": outcome.new}


def revoke(order: Json) -> Json:
    """Take an approval back, if it has not been used."""
    try:
        approval_revoke(approval=UUID(order["approval"]), principal=_principal(APPROVER), reason="as the drill says")
    except HandrailError as error:
        return {"refused": error.detail}
    return {}


def edit(order: Json) -> Json:
    """Change a call that waits; whoever changes it does not decide on it."""
    request = ApprovalRequest.objects.get(pk=order["approval"])
    try:
        made = approval_edit(
            approval=request.pk,
            principal=_principal(EDITOR),
            arguments={"note": "as edited"},
            reason="as the drill says",
            digest=request.digest,
            via=Via.API,
        )
    except HandrailError as error:
        return {"refused": error.detail, "status": error.status}
    return {"approval": str(made.pk)}


def signal(order: Json) -> Json:
    """Send the signal that the agent waits for; the same key again is the same signal (W01)."""
    sent = signal_send(
        workspace=_workspace(),
        task=UUID(order["task"]),
        actor=f"person:{OWNER}",
        name="go",
        payload="now",
        request_key=order["key"],
    )
    return {"seq": sent.seq}


def steer(order: Json) -> Json:
    """Pause, resume or cancel."""
    form: Json = {"workspace": _workspace(), "task": UUID(order["task"]), "actor": f"person:{OWNER}"}
    verb = {"pause": task_pause, "resume": task_resume, "cancel": task_cancel}[order["do"]]
    try:
        verb(**form, reason="as the drill says")
    except HandrailError as error:
        return {"refused": error.detail}
    return {}


def settle(order: Json) -> Json:
    """Record what became of a call in doubt."""
    try:
        call = call_settle(
            workspace=_workspace(),
            task=UUID(order["task"]),
            name=order["call"],
            actor=f"person:{OWNER}",
            answer=order["answer"],
            evidence=order["evidence"],
            reference=order["reference"],
        )
    except HandrailError as error:
        return {"refused": error.detail}
    return {"state": call.state}


def copy(order: Json) -> Json:
    """Copy a task from where it had settled its first act; the same request key again is the same copy."""
    task = UUID(order["task"])
    advanced = Event.objects.filter(stream=task, kind="checkpoint.advanced").order_by("seq")
    settled = Call.objects.get(task=task, name=COPIED_AFTER).settled_seq or 0
    at = advanced.filter(seq__gte=settled).first()
    made = task_copy(
        workspace=_workspace(),
        task=task,
        owner=User.objects.get(username=OWNER),
        actor=f"person:{OWNER}",
        step=at.data["step"] if at else None,
        request_key=order["key"],
    )
    return {"task": str(made.pk)}


def stop(order: Json) -> Json:
    """Set a stop switch over one task, or lift it."""
    user, workspace = User.objects.get(username=OWNER), _workspace()
    form: Json = {"workspace": workspace, "user": user, "actor": f"person:{OWNER}", "reason": "as the drill says"}
    if "lift" in order:
        stop_lift(**form, stop=order["lift"])
        return {}
    return {"stop": stop_set(**form, scope=order["scope"], name=order["name"]).switch.pk}


def wake_many(order: Json) -> Json:
    """Send the message about one task so many times at once."""
    for _ in range(order["count"]):
        wake_now(UUID(order["task"]))
    return {}


def records(order: Json) -> Json:
    """Return the record of a case that was run in another database than the controller's."""
    from chaos_app.drills.collect import records as read

    return {"tasks": TypeAdapter(tuple[TaskRecord, ...]).dump_python(read(order["case"]), mode="json")}


def sweep(order: Json) -> Json:
    """Sweep until somebody ends this process."""
    Sweeper().run()
    return {}


ACTS: dict[str, Callable[[Json], Json]] = {
    "create": create,
    "approve": lambda order: _decide(order, Answer.APPROVED),
    "deny": lambda order: _decide(order, Answer.DENIED),
    "revoke": revoke,
    "edit": edit,
    "signal": signal,
    "copy": copy,
    "pause": steer,
    "resume": steer,
    "cancel": steer,
    "settle": settle,
    "stop": stop,
    "wake": wake_many,
    "unprotected": naive_run,
    "records": records,
    "sweep": sweep,
}
