"""Run it again anyway: a new call with a new key in the place of one in doubt, under an approval of its own."""

from dataclasses import dataclass
from uuid import UUID

from core.errors import Conflict, NotFound
from core.models import Workspace
from tasks_app.decisions import Call as CallDecision
from tasks_app.gate import gate
from tasks_app.models import Call, Task
from tasks_app.record.append import Seq
from tasks_app.record.events import Event
from tasks_app.runtime.intending import CannotIntend, Intended, call_intend
from tasks_app.runtime.recorded import event_data
from tasks_app.services.command import Command
from tasks_app.status import TERMINAL, CallState, Status

REASON = "A person asks to run it again: nobody knows whether the earlier call took effect."


class CannotRunAgain(Conflict):
    """The call cannot be run again; nothing was changed."""

    code = "cannot-run-again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """The new call, fixed but not yet recorded."""

    name: str
    intended: Intended


def again_prepare(*, workspace: Workspace, task: UUID, name: str) -> Again | None:
    """Fix the new call, outside of any transaction: a precondition's seen version is read from the world.

    None where the call is not in doubt (the answer given before then stands). Raises NotFound, CannotRunAgain.
    """
    row = Task.objects.filter(workspace=workspace, pk=task).select_related("workspace", "owner").first()
    call = Call.objects.filter(task=row, name=name).first() if row else None
    if row is None or call is None:
        raise NotFound
    if call.state != CallState.IN_DOUBT:
        return None
    if row.status in TERMINAL | {Status.CANCELLING}:
        raise CannotRunAgain(f"The task is {row.status}: nothing further starts. Say what happened instead.")
    try:
        return _again(row, call)
    except CannotIntend as refusal:
        raise CannotRunAgain(f"{refusal} Nothing was changed.", refusal=refusal.refusal) from refusal


def _again(task: Task, call: Call) -> Again:
    arguments = event_data(task.pk, call.intended_seq)["arguments"]
    names = dict(Call.objects.filter(task=task).values_list("name", "state"))
    new = free_name(call.name, set(names))
    ordinal = Call.objects.filter(task=task, step=call.step).count()
    decided = CallDecision(tool=call.tool, name=new, arguments=arguments)
    intended = call_intend(decided, task=task, step=call.step, ordinal=ordinal, names=names, replaces=call.name)
    if intended.assessment.outcome == "deny":
        raise CannotIntend("denied", intended.assessment.reason, name=new)
    return Again(name=new, intended=intended)


def free_name(name: str, used: set[str]) -> str:
    """Return the name of a call that takes the place of another: "pay", "pay #2", "pay #3"."""
    number = 2
    while (new := f"{name[:110]} #{number}") in used:
        number += 1
    return new


def again_record(here: Command, again: Again) -> None:
    """Record the intention and its approval request, in the transaction that settles the earlier call."""
    intended = again.intended
    # Whatever the policy says of a first call, this one needs a person (and another one where policy says so).
    intended.assessment = type(intended.assessment)(
        outcome="ask", policy={**intended.assessment.policy, "rule": "run again", "asked_by": here.actor}, reason=REASON
    )
    change = intended.change(here.task, seq=Seq(1), state=CallState.ASKED)
    asked: tuple[Event, ...] = gate().request(
        task=here.task,
        call=change,
        contract=intended.contract,
        arguments=intended.event.arguments,
        digest=intended.event.digest,
        policy=intended.assessment.policy,
        reason=REASON,
    )
    here.record(intended.with_policy(), *asked, calls=[change])
