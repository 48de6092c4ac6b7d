"""What is asked of the gate, in which order, and what its silence means. No input or output happens here.

Each flow is a generator: it yields ``Send`` or ``Sleep`` and is sent the answer, or what kept it from arriving. The
two clients drive the same flows, one with threads, one with asyncio.
"""

import json
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx

from handrail_gate.answers import AGAIN, Call, Opened, call_read, opened_read, used_read
from handrail_gate.errors import GateDown, GateGarbage, GateTimeout, GateTooLate, GateUsed, ReportLost
from handrail_gate.execution import Done, Execution

API = "/api/v1/gate"
POLL_SECONDS = 25.0  # the longest that one question for the decision waits
USE_SECONDS = 5.0  # how long a lost answer to "use" is asked for again
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Send:
    """One request; ``timeout`` in seconds, for the answer."""

    method: str
    path: str
    body: Mapping[str, Any] | None = None
    timeout: float = 10.0


@dataclass(frozen=True, slots=True)
class Sleep:
    """A pause before the next try (seconds)."""

    seconds: float


Answer = httpx.Response | Exception | None
type Flow[T] = Generator[Send | Sleep, Answer, T]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A call to ask for. ``arguments`` must be JSON as it is."""

    tool: str
    arguments: Mapping[str, Any]
    request_key: str
    task: str | None = None
    name: str = ""
    title: str = ""
    reason: str = ""

    def body(self) -> dict[str, Any]:
        """Return what is sent."""
        wanted = {"tool": self.tool, "arguments": dict(self.arguments), "request_key": self.request_key}
        more = {"task": self.task, "name": self.name, "title": self.title, "reason": self.reason}
        return wanted | {name: value for name, value in more.items() if value}


def opening(title: str, intent: Mapping[str, Any] | None, *, request_key: str, patience: float) -> Flow[Opened]:
    """Open a task; a lost answer is asked for again under the same key for ``patience`` seconds."""
    body = {"title": title, "intent": dict(intent or {}), "request_key": request_key}
    response = yield from _sending(Send(method="POST", path=f"{API}/tasks", body=body), seconds=patience)
    return opened_read(response)


def finishing(task: str, *, outcome: str, summary: str, patience: float) -> Flow[Opened]:
    """Say that the agent has finished; what is said twice is the same."""
    path = f"{API}/tasks/{quote(task, safe='')}/finish"
    send = Send(method="POST", path=path, body={"outcome": outcome, "summary": summary})
    return opened_read((yield from _sending(send, seconds=patience)))


def asking(wanted: Wanted, *, patience: float) -> Flow[Call]:
    """Ask for a call; a lost answer is asked for again under the same key for ``patience`` seconds."""
    response = yield from _sending(Send(method="POST", path=f"{API}/calls", body=wanted.body()), seconds=patience)
    return call_read(response)


def waiting(call: Call, *, seconds: float) -> Flow[Call]:
    """Wait until the call may be run. Raises GateClosed or GateUsed where it may not, GateTimeout, GateDown."""
    until = time.monotonic() + seconds
    while call.status == "waiting":
        left = until - time.monotonic()
        if left <= 0:
            where = f" Decide it at {call.url}." if call.url else ""
            raise GateTimeout(f"Nobody has decided {call.call!r} within {seconds:g} s.{where} It was not run.")
        wait = min(left, POLL_SECONDS)
        send = Send(method="GET", path=f"{_path(call.task, call.call)}?wait={wait:.3f}", timeout=wait + 10)
        call = call_read((yield from _sending(send, seconds=left)))
    if call.status == "closed":
        raise call.closed()
    if call.status != "ready":
        raise GateUsed(f"The call {call.call!r} is {call.state}: it was used already. It was not run.")
    return call


def using(call: Call, *, use_key: str) -> Flow[Execution]:
    """Use the call, once. Raises GateUsed, GateClosed, GateTooLate, GateDown, GateGarbage; then nothing may be run."""
    send = Send(
        method="POST", path=f"{_path(call.task, call.call)}/use", body={"use_key": use_key}, timeout=USE_SECONDS
    )
    until = time.monotonic() + USE_SECONDS
    pause = FIRST_PAUSE
    while True:
        began = time.monotonic()  # before it is sent: what the gate counts from its answer has begun by then
        answer = yield send
        if isinstance(answer, httpx.Response) and answer.status_code not in AGAIN:
            break
        if time.monotonic() + pause > until:
            raise _down(answer)
        yield Sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE)
    used = used_read(answer)
    execution = Execution(
        task=used.task,
        call=used.call,
        arguments=used.arguments,
        digest=used.digest,
        key=used.key,
        token=used.token,
        begin_by=began + used.begin_within,
        deadline=began + used.seconds,
    )
    if used.digest != call.digest:
        yield from reporting(execution, outcome="failed", reason="never begun: another call than was read", tries=1)
        raise GateGarbage("The gate let another call be used than it had shown. Nothing was run.")
    if time.monotonic() >= execution.begin_by:
        yield from reporting(execution, outcome="failed", reason="never begun: the permission came too late", tries=1)
        raise GateTooLate
    return execution


def reporting(
    execution: Execution, *, outcome: str, result: Any = None, reason: str = "", tries: int | None = None
) -> Flow[bool]:
    """Report the outcome; again until the deadline where it does not arrive. False where it was not taken.

    ``tries``: how often at most. A report that is refused is not repeated; the outcome is then unknown to the gate.
    """
    body = {"token": execution.token, "outcome": outcome, "reason": reason[:2000], **_result(result)}
    send = Send(method="POST", path=f"{_path(execution.task, execution.call)}/report", body=body, timeout=5.0)
    pause = FIRST_PAUSE
    while True:
        answer = yield send
        if isinstance(answer, httpx.Response) and answer.status_code not in AGAIN and answer.status_code != 500:
            return answer.is_success
        tries = None if tries is None else tries - 1
        if tries == 0 or time.monotonic() + pause >= execution.deadline:
            return False
        yield Sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE)


def lost(execution: Execution, result: Any) -> ReportLost:
    """Return the error for a function that ran and whose report was not taken."""
    detail = f"{execution.call!r} ran, and its report was not taken: to Handrail its outcome is unknown."
    return ReportLost(detail, result=result)


def _result(result: Any) -> dict[str, Any]:
    reference = ""
    if isinstance(result, Done):
        result, reference = result.result, result.reference
    try:
        json.dumps(result, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        result = {"not_json": type(result).__name__}
    return {"result": result, "reference": reference}


def _sending(send: Send, *, seconds: float) -> Flow[httpx.Response]:
    """Send until an answer arrives that is one, for so many seconds."""
    until = time.monotonic() + seconds
    pause = FIRST_PAUSE
    while True:
        answer = yield send
        if isinstance(answer, httpx.Response) and answer.status_code not in AGAIN:
            return answer
        if time.monotonic() + pause > until:
            raise _down(answer)
        yield Sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE)


def _down(answer: Answer) -> GateDown:
    if isinstance(answer, httpx.Response):
        return GateDown(f"The gate answers {answer.status_code}, again and again. The function was not run.")
    return GateDown(f"The gate cannot be reached ({type(answer).__name__}). The function was not run.")


def _path(task: str, call: str) -> str:
    return f"{API}/tasks/{quote(task, safe='')}/calls/{quote(call, safe='')}"
