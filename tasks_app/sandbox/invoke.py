"""Running a function of a contract: in its sandbox, or here where the contract says none and why.

The decision that it may run was made before, from the record; nothing said inside can change it. What comes back is
checked like anything from outside.
"""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from django.conf import settings
from pydantic import BaseModel

from core.embedded.folder import sockets
from core.tracing import trace_headers
from tasks_app.contracts import (
    Absent,
    Answer,
    CallContext,
    CannotTell,
    Contract,
    EffectClass,
    Found,
    Observed,
    Refused,
    Started,
    Unknown,
)
from tasks_app.credentials.granting import Granted
from tasks_app.keeper.client import sandbox_watch
from tasks_app.record.events import EgressConnected, Event
from tasks_app.record.stored import text_masked
from tasks_app.runtime.granting import granted_to_look, looking_now
from tasks_app.runtime.watchdog import deadline_guard
from tasks_app.sandbox import held, levels
from tasks_app.sandbox.egress import Connection, Egress, nothing_reached
from tasks_app.sandbox.packages import seen_inside
from tasks_app.sandbox.run import sandbox_run
from tasks_app.sandbox.spec import Ended, Frame, How, Spec, Wanted
from tasks_app.sandbox.stock import stock_here

UNKNOWN_ENDS = {
    How.KILLED: ("sandbox-killed", "Its sandbox was killed."),
    How.MEMORY: ("sandbox-memory", "It used more memory than its contract allows."),
    How.CPU: ("sandbox-cpu", "It used more processor time than its contract allows."),
    How.TIME: ("deadline", "No answer before the deadline; its sandbox was ended."),
    How.GARBAGE: ("sandbox-garbage", "What it said is no answer."),
    How.OUTPUT: ("sandbox-output", "Its answer is larger than its contract allows."),
    How.FILES: ("sandbox-files", "It made more files than its contract allows."),
    How.REVOKED: ("credential-revoked", "A credential that it held was revoked; its sandbox was ended."),
}


NOTHING: Mapping[str, str] = MappingProxyType({})
TOLD = 2000  # characters that are kept of what was raised, printed or tried


class InsideFault(Exception):
    """A function raised something that is neither Refused nor Unknown."""


class SandboxEnded(Exception):
    """A sandbox ended without an answer after its function had begun: nobody can tell what it did."""

    def __init__(self, code: str, reason: str) -> None:
        self.code, self.reason = code, reason
        super().__init__(reason)


@dataclass(slots=True)
class Report:
    """What the record shall say of a run beside its answer."""

    used: dict[str, Any] | None = None
    notes: list[Event] = field(default_factory=list)  # grants used, connections


def function_run(
    contract: Contract, role: str, *arguments: Any, until: float, report: Report, granted: Granted | None = None
) -> Any:
    """Run ``contract.role(*arguments)`` until ``until`` (monotonic clock, seconds) and return what it answers.

    ``granted``: what was issued for this call; look-ups have theirs issued here. Raises Refused and Unknown as the
    function does, InsideFault, SandboxEnded, or, without a sandbox, anything.
    """
    walled = contract.sandbox != Wanted.NONE
    refusal = levels.refusal_of(Wanted(contract.sandbox)) if walled else ""
    if refusal:
        raise Refused(refusal, code="sandbox-missing")
    if granted is None:
        granted = granted_to_look(contract, role, seconds=until - time.monotonic())
    secrets = granted.take()
    report.notes += granted.events
    if not walled:
        with held.holding(secrets), deadline_guard(until):
            return getattr(contract, role)(*[_with_secrets(one, secrets) for one in arguments])
    ended, connections = _inside(contract, role, arguments, until, report, granted, secrets)
    report.used = ended.usage.as_json(ended.how)
    try:
        return _answer(ended)
    except (InsideFault, SandboxEnded, Unknown) as fault:
        if _surely_nothing(contract, role, connections):
            raise Refused(_unreached(connections), code="unreachable", sent=False) from fault
        raise


def _inside(
    contract: Contract,
    role: str,
    arguments: tuple[Any, ...],
    until: float,
    report: Report,
    granted: Granted,
    secrets: Mapping[str, str],
) -> tuple[Ended, list[Connection]]:
    """Run it between walls, with the one way out that its contract names; return what went that way as well."""
    folder = sockets(settings.VAR_DIR) if contract.network else Path()
    egress = Egress(contract.network, contract.private_network, until=until, folder=folder)
    try:
        with egress:
            ended = sandbox_run(
                spec_of(contract, role, arguments, secrets=secrets, proxy=egress.path),
                until=until,
                told=lambda pid: sandbox_watch(pid, until),
                may_go_on=granted.holds if secrets else None,
                stock=stock_here(),
            )
    finally:
        report.notes.extend(_noted(arguments, egress.connections))
    return ended, egress.connections


def _noted(arguments: tuple[Any, ...], connections: Sequence[Connection]) -> list[Event]:
    """Return the events of the connections that were made or refused."""
    here = looking_now()
    names = [one.name for one in arguments if isinstance(one, CallContext)]
    name = names[0] if names else here.call if here else ""
    return [EgressConnected(name=name, **one.as_json()) for one in connections]


def _surely_nothing(contract: Contract, role: str, connections: Sequence[Connection]) -> bool:
    """Whether an act had no effect for certain: it asked for the outside and reached none of it, which is known here.

    Only where nothing else could tell; the other classes find out by themselves, and wait for a system that is away.
    """
    acts = role in {"execute", "start"} and contract.effect_class == EffectClass.OPAQUE
    return acts and not contract.mounts and nothing_reached(connections)  # a mount could hold another way out


def _unreached(connections: Sequence[Connection]) -> str:
    tried = {f"{one.place}: {one.refused}" for one in connections}
    return text_masked(f"Nothing left its sandbox. {'; '.join(sorted(tried))}", TOLD)


def _with_secrets(argument: Any, secrets: Mapping[str, str]) -> Any:
    return replace(argument, credentials=secrets) if secrets and isinstance(argument, CallContext) else argument


def spec_of(
    contract: Contract, role: str, arguments: tuple[Any, ...], *, secrets: Mapping[str, str] = NOTHING, proxy: str = ""
) -> Spec:
    """Return what a sandbox is asked to do for this function of a contract."""
    function = getattr(contract, role)
    paths, mounts = seen_inside(function.__module__, (contract.arguments.__module__, *contract.packages))
    return Spec(
        module=function.__module__,
        qualname=function.__qualname__,
        role=role,
        tool=contract.name,
        version=contract.version,
        arguments=tuple(_written(one) for one in arguments),
        frame=Frame(
            paths=paths,
            mounts=(*mounts, *contract.mounts),
            limits=contract.limits,
            network=contract.network,
            ways=str(sockets(settings.VAR_DIR)) if contract.network else "",
        ),
        environment={name: os.environ[name] for name in contract.environment if name in os.environ},
        proxy=proxy,
        secrets=secrets,
    )


def _written(argument: Any) -> dict[str, Any]:
    """Write an argument so that the child can make it again."""
    match argument:
        case BaseModel():
            model = type(argument)
            value = argument.model_dump(mode="json")
            return {"kind": "model", "module": model.__module__, "qualname": model.__qualname__, "value": value}
        case CallContext():
            value = asdict(argument) | {"trace": trace_headers()}
            del value["credentials"]  # they have a descriptor of their own
            return {"kind": "context", "value": value}
        case Answer():
            return {"kind": "answer", "value": {"result": argument.result, "reference": argument.reference}}
    return {"kind": "plain", "value": argument}


def _answer(ended: Ended) -> Any:
    match ended.how:
        case How.ANSWERED:
            return _made(ended.reply["value"])
        case How.RAISED:
            raise _raised(ended.reply["raised"])
        case How.UNLOADABLE:
            hint = "Name what it imports in the contract's packages, or install it in the worker's environment."
            why = text_masked(ended.reply["unloadable"], TOLD)
            raise Refused(f"It could not be loaded inside: {why} {hint}", code="unloadable")
        case How.NOT_STARTED:
            why = text_masked(ended.detail, TOLD, from_end=True) or "The sandbox did not start."
            raise Refused(why, code="sandbox-not-started", sent=False)
    code, reason = UNKNOWN_ENDS[ended.how]
    if not ended.began:
        raise Refused(f"{reason} Its function had not begun.", code=code, sent=False)
    printed = text_masked(ended.detail, TOLD, from_end=True)
    raise SandboxEnded(code, f"{reason} It printed: {printed}" if printed else reason)


def _made(value: Mapping[str, Any]) -> Any:
    """Make an answer of what was said; what does not fit is garbage, whatever it claims to be."""
    fields, kind = dict(value["fields"]), value["kind"]
    try:
        match kind:
            case "":
                return fields["value"]
            case "Answer":
                return Answer(result=fields.get("result"), reference=str(fields.get("reference") or ""))
            case "Started":
                return Started(handle=str(fields["handle"]), poll_after=float(fields.get("poll_after", 1.0)))
            case "Found":
                given = fields.get("arguments")
                shown = dict(given) if given is not None else None
                return Found(reference=str(fields["reference"]), arguments=shown, result=fields.get("result"))
            case "Absent":
                return Absent()
            case "CannotTell":
                return CannotTell(str(fields["reason"]))
            case "Observed":
                return Observed(
                    matches=fields["matches"] is True,
                    seen=fields.get("seen"),
                    reference=str(fields.get("reference") or ""),
                    reason=str(fields.get("reason") or ""),
                    cannot_tell=fields.get("cannot_tell") is True,
                )
    except (KeyError, TypeError, ValueError):
        pass
    raise SandboxEnded(*UNKNOWN_ENDS[How.GARBAGE])


def _raised(fault: Mapping[str, Any]) -> Exception:
    match fault:
        case {"type": "Refused", "reason": str(reason), "code": str(code), "sent": bool(sent), "moved": bool(moved)}:
            return Refused(reason, code=text_masked(code, 100), sent=sent, moved=moved)
        case {"type": "Unknown", "reason": str(reason)}:
            after = fault.get("retry_after")
            return Unknown(reason, retry_after=float(after) if isinstance(after, int | float) else None)
    return InsideFault(text_masked(f"{fault['type']}: {fault['text']}", TOLD))
