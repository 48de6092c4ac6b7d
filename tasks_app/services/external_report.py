"""An agent outside reports what became of a call: in time an outcome, afterwards a late receipt (E05, L05)."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from core.errors import Conflict, Forbidden
from core.models import Workspace
from tasks_app import registry
from tasks_app.contracts import Contract
from tasks_app.execution_token import execution_read
from tasks_app.external import external_contract
from tasks_app.models import Call, Event, LateWrite, Status, Task
from tasks_app.record.append import CallChange, Stale, Token, append
from tasks_app.record.events import After, CallOutcome, SliceReleased
from tasks_app.record.late import late_keep
from tasks_app.runtime.acting import Outcome, reference_fit
from tasks_app.runtime.ending import NO_LEASE
from tasks_app.runtime.running import outcome_values
from tasks_app.services import intake
from tasks_app.services.command import Command, announce, command
from tasks_app.services.external_task import external_owned
from tasks_app.wake import wake

OUTCOMES = {"succeeded": "ok", "failed": "refused", "unknown": "unknown"}


class GateToken(Forbidden):
    """This execution token does not belong to this call; nothing was changed."""

    code = "gate-token"


class GateReported(Conflict):
    """Another outcome has been reported for this execution; the first report stands."""

    code = "gate-reported"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What an agent says: ``failed`` means definitely without effect; whoever is not sure says ``unknown``."""

    outcome: str  # succeeded, failed, unknown
    result: Any = None
    reference: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """The call after a report. ``late``: it came after the deadline, and is kept as a late receipt."""

    call: Call
    late: bool


def external_report(*, workspace: Workspace, task: UUID, name: str, actor: str, token: str, report: Report) -> Reported:
    """Record the outcome of an execution and let go of the task. The same report again is the same answer.

    After the deadline it is a late receipt, which may close a doubt and nothing else. Raises NotFound, Forbidden,
    InvalidInput, GateToken, GateReported.
    """
    if report.outcome not in OUTCOMES:
        raise intake.field_error("outcome", f"must be one of {', '.join(OUTCOMES)}.")
    held = execution_read(token)
    if held is None:
        raise GateToken
    with command(workspace=workspace, task=task, actor=actor) as here:
        external_owned(here.task, actor)
        attempt = _own_attempt(here.task, name, held)
        contract = _contract(here.task, name)
        said = _event(name, attempt, report, contract)
        earlier = _earlier(here.task, name, attempt, held)
        if earlier is not None:
            _same(earlier, said)
            late = isinstance(earlier, LateWrite) or earlier.kind != "call.outcome"
        else:
            # Without the tool's contract nobody here knows what is left to do; whoever carries it does.
            late = contract is None or not _in_time(here, held, said, external_contract(contract))
            if late:  # under the same lock: of two reports at once the second finds the first
                late_keep(stream=task, events=[said], actor=actor, token=held)
                wake(task)
    return Reported(call=Call.objects.select_related("task").get(task=task, name=name), late=late)


def _own_attempt(task: Task, name: str, token: Token) -> int:
    """Return the number of the attempt that this token began. Raises GateToken."""
    mine = Event.objects.filter(stream=task.pk, epoch=token.epoch)
    claimed = mine.filter(kind="slice.claimed", data__nonce=str(token.nonce))
    attempted = mine.filter(kind="call.attempted", data__name=name).values_list("data__attempt", flat=True).first()
    if attempted is None or not claimed.exists():
        raise GateToken
    return int(attempted)


def _contract(task: Task, name: str) -> Contract | None:
    tool, version = Call.objects.values_list("tool", "contract_version").get(task=task, name=name)
    return registry.tool_find(tool, version)


def _event(name: str, attempt: int, report: Report, contract: Contract | None) -> CallOutcome:
    outcome = OUTCOMES[report.outcome]
    code = "reported-failed" if outcome == "refused" else "reported-unknown"
    return CallOutcome(
        name=name,
        attempt=attempt,
        outcome=outcome,
        result=report.result,
        error=None if outcome == "ok" else {"code": code, "reason": report.reason or f"Reported as {report.outcome}."},
        reference=reference_fit(report.reference) or None,
        settles=(outcome == "ok" and (contract is None or contract.verify is None)) or None,
    )


def _earlier(task: Task, name: str, attempt: int, token: Token) -> Event | LateWrite | None:
    about = {"data__name": name, "data__attempt": attempt}
    said = Event.objects.filter(stream=task.pk, kind__in=["call.outcome", "call.late_receipt"], **about).first()
    kept = LateWrite.objects.filter(stream=task.pk, presented_nonce=token.nonce, kind="call.outcome", **about)
    return said or kept.first()


def _same(earlier: Event | LateWrite, said: CallOutcome) -> None:
    if earlier.data["outcome"] != said.outcome:
        raise GateReported(f"Reported as {earlier.data['outcome']!r} before; that report stands.")


def _in_time(here: Command, token: Token, said: CallOutcome, contract: Contract) -> bool:
    """Record the outcome; False where the lease or the task is over: the append itself tells, by its own clock."""
    try:
        _record(here, token, said, contract)
    except Stale as stale:
        if not stale.fenced and stale.refusal != "ended":
            raise
        return False
    return True


def _record(here: Command, token: Token, said: CallOutcome, contract: Contract) -> None:
    task = here.task
    call = Call.objects.get(task=task, name=said.name)
    outcome = Outcome(outcome=said.outcome, result=said.result, error=said.error, reference=said.reference or "")
    onward = {"status": Status.QUEUED} if task.status == Status.RUNNING else {}
    done = append(
        stream=task.pk,
        events=[said, SliceReleased(why="handed over", worker=task.lease_holder)],
        actor=here.actor,
        token=token,
        expected=task.head_seq,
        task={**NO_LEASE, **onward, "wake_at": After(0)},
        calls=[CallChange(name=call.name, set=outcome_values(call, contract, outcome))],
    )
    announce(task=task.pk, workspace=task.workspace_id, seq=done.head_seq, due=True)
