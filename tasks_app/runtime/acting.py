"""Acting: the one place where a tool's code touches the outside world, and what its answer means."""

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from core.boundaries import Boundary, Position, cross
from core.logs import about
from core.tracing import Noted, span
from tasks_app.contracts import Answer, CallContext, CannotTell, Contract, LookUp, Observed, Refused, Started, Unknown
from tasks_app.credentials.granting import Granted
from tasks_app.record.events import Event
from tasks_app.record.stored import text_masked
from tasks_app.runtime.granting import looking_now
from tasks_app.runtime.watchdog import DeadlinePassed
from tasks_app.sandbox.invoke import InsideFault, Report, SandboxEnded, function_run

LOOKING_SECONDS = 10.0
REFERENCE_LENGTH = 300
SEEN_LENGTH = 4000
REASON_LENGTH = 2000
LONGEST_PAUSE = 30 * 86_400.0  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a tool's answer means: ok, refused (definitely no effect), unknown, or started (long work)."""

    outcome: str
    result: Any = None
    error: dict[str, Any] | None = None
    reference: str = ""
    sent: bool = True
    handle: str = ""
    again_after: float = 0.0
    used: dict[str, Any] | None = None  # what its sandbox took
    notes: tuple[Event, ...] = ()  # grants used, connections


def call_act(
    contract: Contract,
    arguments: Any,
    context: CallContext,
    *,
    epoch_holds: Callable[[], bool],
    send_by: float | None,
    granted: Granted | None = None,
) -> Outcome:
    """Run the tool once, in this thread, until its deadline. Never raises but for a dying process.

    Nothing is sent after ``send_by`` (monotonic clock, anchored before the attempt was committed) or when the
    lease is known to be lost (L06).
    """
    cross(Boundary.SEND, Position.BEFORE_SEND, task=UUID(context.task), call=context.name, epoch=context.epoch)
    if send_by is not None and time.monotonic() >= send_by:
        return _not_sent("The worker came back after send_by had passed.")
    if not epoch_holds():
        return _not_sent("The lease was lost before anything was sent.")
    with about(UUID(context.task), call=context.name, attempt=context.attempt), _span(contract, context) as noted:
        report = Report()
        outcome = _acted(contract, arguments, context, report, granted or Granted())
        outcome = replace(outcome, used=report.used, notes=tuple(report.notes))
        noted.note(outcome=outcome.outcome)
        if outcome.error:
            noted.failed(str(outcome.error.get("reason", outcome.outcome)))
    return outcome


def _span(contract: Contract, context: CallContext) -> AbstractContextManager[Noted]:
    return span(
        "call.act",
        task=UUID(context.task),
        kind="client",
        call=context.name,
        tool=contract.name,
        attempt=context.attempt,
        epoch=context.epoch,
    )


def _acted(contract: Contract, arguments: Any, context: CallContext, report: Report, granted: Granted) -> Outcome:
    role = "start" if contract.start else "execute"
    try:
        answer = function_run(
            contract, role, arguments, context, until=context.deadline, report=report, granted=granted
        )
    except Refused as refused:
        error = {"code": refused.code, "reason": refused.reason, "moved": refused.moved}
        return Outcome(outcome="refused", error=error, sent=refused.sent)
    except Unknown as unknown:
        error = {"code": "unknown", "reason": unknown.reason}
        return Outcome(outcome="unknown", error=error, again_after=pause_fit(unknown.retry_after))
    except DeadlinePassed:
        return Outcome(outcome="unknown", error={"code": "deadline", "reason": "No answer before the deadline."})
    except SandboxEnded as ended:
        return Outcome(outcome="unknown", error={"code": ended.code, "reason": ended.reason})
    except Exception as fault:  # whatever a tool raises after the send: unknown is not failed
        return Outcome(outcome="unknown", error={"code": "exception", "reason": _told(fault)})
    return _answered(answer)


def poll_act(contract: Contract, handle: str) -> Outcome | CannotTell:
    """Ask how long work stands. An exception is CannotTell: the work may go on, and it is asked again later."""
    if contract.poll is None:
        return Outcome(outcome="unknown", error={"code": "no-poll", "reason": "The contract cannot poll any more."})
    try:
        answer = function_run(contract, "poll", handle, until=_looking(), report=_report())
    except Refused as refused:
        return Outcome(outcome="refused", error={"code": refused.code, "reason": refused.reason})
    except Exception as fault:
        return CannotTell(_told(fault))
    return _answered(answer)


def find_act(contract: Contract, key: str) -> LookUp:
    """Look an effect up by its key. An exception, a timeout, or None is CannotTell, never Absent."""
    if contract.find is None:
        return CannotTell("The contract has no look-up.")
    try:
        with span("call.look_up", kind="client", tool=contract.name):
            answer = function_run(contract, "find", key, until=_looking(), report=_report())
    except (Exception, DeadlinePassed) as fault:
        return CannotTell(_told(fault))
    return answer if isinstance(answer, LookUp) else CannotTell("The look-up answered nothing.")


def verify_act(contract: Contract, arguments: Any, answer: Answer) -> Observed:
    """Read the effect back by a request of its own. An exception is "cannot tell"."""
    if contract.verify is None:
        return Observed(matches=True)
    try:
        with span("call.verify", kind="client", tool=contract.name):
            seen = function_run(contract, "verify", arguments, answer, until=_looking(), report=_report())
    except (Exception, DeadlinePassed) as fault:
        return Observed(matches=False, cannot_tell=True, reason=_told(fault))
    if isinstance(seen, Observed):
        return replace(seen, reference=reference_fit(seen.reference))
    return Observed(matches=False, cannot_tell=True, reason="The read-back answered nothing.")


def seen_act(contract: Contract, arguments: Any) -> str:
    """Read the version that a precondition will compare. Raises whatever stands against it."""
    seen = str(function_run(contract, "seen", arguments, until=_looking(), report=_report()))
    if _fit(seen, SEEN_LENGTH) != seen:
        raise ValueError("What it saw cannot be kept as it is: it is long, or holds a secret or what is no text.")
    return seen


def _report() -> Report:
    """Return a report whose notes go to the record of the call that is looked at."""
    here = looking_now()
    return Report(notes=here.notes) if here else Report()


def _looking() -> float:
    return time.monotonic() + LOOKING_SECONDS


def _told(fault: BaseException) -> str:
    """Return what was raised, by its name; what a sandbox says has its name already."""
    named = str(fault) if isinstance(fault, InsideFault | SandboxEnded) else f"{type(fault).__name__}: {fault}"
    return text_masked(named, REASON_LENGTH)


def _answered(answer: Any) -> Outcome:
    if isinstance(answer, Started):
        return _started(answer)
    if not isinstance(answer, Answer):
        answer = Answer(result=answer)
    return Outcome(outcome="ok", result=answer.result, reference=reference_fit(answer.reference))


def _started(answer: Started) -> Outcome:
    """Take a handle only as it is: another one would ask for other work."""
    if _fit(answer.handle, REFERENCE_LENGTH) == answer.handle:
        again_after = pause_fit(answer.poll_after, otherwise=1.0)
        return Outcome(outcome="started", handle=answer.handle, again_after=again_after)
    reason = f"Work has begun under a handle that cannot be kept: over {REFERENCE_LENGTH} characters, or a secret."
    return Outcome(outcome="unknown", error={"code": "handle", "reason": reason})


def pause_fit(seconds: float | None, *, otherwise: float = 0.0) -> float:
    """Return a pause that a tool asks for as a clock takes it; ``otherwise`` where it is none."""
    return min(max(seconds, 0.0), LONGEST_PAUSE) if seconds is not None and math.isfinite(seconds) else otherwise


def reference_fit(reference: object) -> str:
    """Return an outside reference as its column takes it: an answer must never fail to be recorded for its form."""
    return _fit(str(reference or ""), REFERENCE_LENGTH)


def _fit(text: str, most: int) -> str:
    whole = text.replace("\x00", "").encode("utf-8", "replace").decode()
    return text_masked(whole, most, exempt=True)


def _not_sent(reason: str) -> Outcome:
    return Outcome(outcome="refused", sent=False, error={"code": "not-sent", "reason": reason})
