"""The look-up button: a person asks the outside world once more about a call in doubt. Looking has no effect.

A worker looks: only workers carry the tools and may wait for the outside.
"""

from dataclasses import dataclass
from uuid import UUID

from core.clock import database_now
from core.errors import Conflict, NotFound, Unavailable
from core.models import Workspace
from tasks_app.contracts import Absent, CannotTell, Found
from tasks_app.models import Call, Event
from tasks_app.record.append import CallChange, Seq
from tasks_app.record.events import After, CallObserved
from tasks_app.runtime.acting import find_act, reference_fit
from tasks_app.runtime.granting import looking
from tasks_app.runtime.recorded import RecordedCall
from tasks_app.services.command import Command, command
from tasks_app.services.settle import NotInDoubt, TooEarly, not_before
from tasks_app.status import CallState, EffectClass, Status, weaker
from tasks_app.wake import LOOK_UP, send_now
from tasks_app.workers import workers_alive


class CannotLookUp(Conflict):
    """This call cannot be looked up; nothing was changed."""

    code = "cannot-look-up"


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What a look-up saw. ``closed``: it closed the doubt by itself. ``reason``: what that means, in a sentence."""

    answer: str  # found, absent, cannot tell
    closed: bool
    reason: str
    reference: str = ""


def look_up_ask(*, workspace: Workspace, task: UUID, name: str, actor: str) -> int:
    """Ask a worker to look a call in doubt up; returns the sequence after which what it sees will follow.

    The request is a message; where it is lost on its way nothing happens, and it may be asked for again.
    Raises NotFound, NotInDoubt, TooEarly, CannotLookUp, Unavailable (no worker that carries the tool, no broker).
    """
    call = Call.objects.select_related("task").filter(task__workspace=workspace, task=task, name=name).first()
    if call is None:
        raise NotFound
    _may_ask(call)
    carries = {"carries__tools__contains": {call.tool: [call.contract_version]}}
    if not workers_alive().filter(**carries).exists():
        raise Unavailable(f"No worker lives that carries {call.tool}; start one, then ask again. Nothing was changed.")
    if not send_now(LOOK_UP, str(task), str(workspace.pk), name, actor):
        raise Unavailable("The broker does not answer, so no worker could be asked; ask again in a moment.")
    return call.task.head_seq


def call_look_up(*, workspace: Workspace, task: UUID, name: str, actor: str) -> Looked:
    """Look a call in doubt up here and now; found as intended, or certainly absent, closes the doubt.

    The world is read before the transaction: none is open across anything outside. Refused while a late arrival is
    still possible. Raises NotFound, NotInDoubt, TooEarly (``not_before``), CannotLookUp.
    """
    call = Call.objects.filter(task__workspace=workspace, task=task, name=name).first()
    if call is None:
        raise NotFound
    recorded = _may_look(call)
    assert recorded.contract is not None
    with looking(workspace=workspace.pk, task=task, call=name) as notes:
        found = find_act(recorded.contract, call.key)
    looked, move = _meaning(call, found, recorded)
    with command(workspace=workspace, task=task, actor=actor) as here:
        fresh = Call.objects.get(task=here.task, name=name)
        if fresh.state != CallState.IN_DOUBT:
            raise _settled(fresh)
        if notes:
            here.record(*notes)
        _record(here, fresh, found, looked, move)
    return looked


def _may_look(call: Call) -> RecordedCall:
    recorded = _may_ask(call)
    if recorded.contract is None:
        raise CannotLookUp(f"The tool {call.tool} is not carried by this process. Nothing was changed.")
    return recorded


def _may_ask(call: Call) -> RecordedCall:
    if call.state != CallState.IN_DOUBT:
        raise _settled(call)
    recorded = RecordedCall(call)
    if recorded.contract is not None and recorded.contract.find is None:
        raise CannotLookUp(f"The tool {call.tool} has no look-up: check outside by hand. Nothing was changed.")
    moment = not_before(call)
    if moment is not None and database_now() < moment:
        raise TooEarly(
            f"Until {moment:%H:%M:%S} UTC a request that was accepted may still take effect: what a look-up misses now"
            " could be there then. Nothing was changed.",
            not_before=moment.isoformat(),
        )
    return recorded


def _settled(call: Call) -> NotInDoubt:
    return NotInDoubt(f"The call {call.name!r} is {call.state}, not in doubt; nothing was changed.", state=call.state)


def _meaning(call: Call, found: Found | Absent | CannotTell, recorded: RecordedCall) -> tuple[Looked, str]:
    """Return what was seen and the move that follows: adopt, refuse, or none, where a person must still say."""
    match found:
        case Found() if _as_intended(found, recorded):
            said = "Found under our key, as intended: it happened."
            return Looked(answer="found", closed=True, reason=said, reference=reference_fit(found.reference)), "adopt"
        case Found():
            said = "Found under our key with other arguments: a person must say what that means."
            return Looked(answer="found", closed=False, reason=said, reference=reference_fit(found.reference)), "doubt"
        case Absent() if why := _not_believed(call, recorded):
            return Looked(answer="absent", closed=False, reason=f"Not there, {why}: a person must say."), "doubt"
        case Absent():
            return Looked(answer="absent", closed=True, reason="Looked up after every deadline: no effect."), "refuse"
        case CannotTell(reason=reason):
            return Looked(answer="cannot tell", closed=False, reason=reason), "doubt"


def _as_intended(found: Found, recorded: RecordedCall) -> bool:
    intended = recorded.intended["arguments"]
    return found.arguments is None or all(intended.get(name) == value for name, value in found.arguments.items())


def _not_believed(call: Call, recorded: RecordedCall) -> str:
    """Say why "absent" does not close the doubt, or an empty text: an answer contradicts it, or the tool's class."""
    assert recorded.contract is not None
    if weaker(EffectClass(call.effect_class), recorded.contract.effect_class) == EffectClass.OPAQUE:
        return "but the tool does not promise that a look-up sees everything"
    said_ok = Event.objects.filter(stream=call.task_id, kind="call.outcome", data__name=call.name, data__outcome="ok")
    return "although the tool had answered ok" if said_ok.exists() else ""


def _record(here: Command, call: Call, found: Found | Absent | CannotTell, looked: Looked, move: str) -> None:
    event = CallObserved(
        name=call.name,
        look_up=call.look_ups + 1,
        answer=looked.answer,
        move=move,
        reference=looked.reference or None,
        found=dict(found.arguments) if isinstance(found, Found) and found.arguments is not None else None,
        result=found.result if isinstance(found, Found) else None,
        reason=looked.reason,
        adopted=move == "adopt",
    )
    others = Call.objects.filter(task=here.task, state=CallState.IN_DOUBT).exclude(pk=call.pk).exists()
    free = here.task.lease_nonce is None
    over = looked.closed and free and not others and here.task.status == Status.IN_DOUBT
    task = ({"status": Status.QUEUED, "wait": None} if over else {}) | (
        {"wake_at": After(0)} if looked.closed and free else {}
    )
    here.record(
        event,
        task=task,
        calls=[CallChange(name=call.name, set=_change(call, looked, move))],
        due=looked.closed and free,
    )


def _change(call: Call, looked: Looked, move: str) -> dict[str, object]:
    if move == "adopt":
        adopted = {"state": CallState.OK, "reference": looked.reference, "answer_seq": Seq(1), "look_ups": 0}
        return {**adopted, "next_look_at": None}
    if move == "refuse":
        settled = {"state": CallState.REFUSED, "settled_seq": Seq(1), "answer_seq": Seq(1)}
        return {**settled, "holds_business_key": False, "look_ups": call.look_ups + 1}
    return {"look_ups": call.look_ups + 1}
