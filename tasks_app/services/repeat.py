"""Letting an act be done once more: the business key of a settled call is given free by a person."""

from uuid import UUID

from core.errors import NotFound
from core.models import Workspace
from tasks_app.models import Call
from tasks_app.record.append import CallChange
from tasks_app.record.events import CallRepeatAllowed
from tasks_app.services import intake
from tasks_app.services.command import Command, command
from tasks_app.services.steer import NotNow
from tasks_app.status import OPEN, CallState


def repeat_allow(*, workspace: Workspace, task: UUID, name: str, actor: str, reason: str) -> Call:
    """Let one more call with the business key of this one be made, whoever asks for it first.

    The call itself stays as it is. Allowed already is the same answer. Works on tasks that have ended, too.
    Raises NotFound, InvalidInput, NotNow (the call has no business key, is open or in doubt, or had no effect).
    """
    reason = intake.text_checked("reason", reason)
    with command(workspace=workspace, task=task, actor=actor) as here:
        call = Call.objects.filter(task=here.task, name=name).first()
        if call is None:
            raise NotFound
        if not _is_allowed(here, call):
            _allow(here, call, reason)
    return Call.objects.get(task_id=task, name=name)


def _is_allowed(here: Command, call: Call) -> bool:
    if call.holds_business_key and call.business_key:
        return False
    if call.business_key and here.said("call.repeat_allowed", name=call.name):
        return True
    raise NotNow(f"The call {call.name!r} keeps no other call from being made; nothing was changed.", state=call.state)


def _allow(here: Command, call: Call, reason: str) -> None:
    if call.state in OPEN:
        raise NotNow(
            f"The call {call.name!r} is {CallState(call.state)}: whether it has happened must be known first; nothing"
            " was changed. Wait until it is settled, or record what happened.",
            state=call.state,
        )
    event = CallRepeatAllowed(name=call.name, business_key=call.business_key or "", reason=reason)
    here.record(event, calls=[CallChange(name=call.name, set={"holds_business_key": False})], after_end=True)
