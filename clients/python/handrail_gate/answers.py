"""What the gate answers, checked: whatever is not exactly as expected counts as no permission."""

from dataclasses import dataclass
from typing import Any

import httpx

from handrail_gate.errors import GateClosed, GateDenied, GateExpired, GateGarbage, GateRefused, GateUsed

AGAIN = frozenset({429, 502, 503, 504})  # the gate, or what stands in front of it, asks to come again
STATUSES = frozenset({"waiting", "ready", "running", "done", "unknown", "closed"})
_CLOSED = {"denied": GateDenied, "refused": GateDenied, "expired": GateExpired, "lapsed": GateExpired}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A requested call as the gate shows it. ``url``: where a person decides it, or None."""

    task: str
    call: str
    status: str
    state: str
    digest: str
    arguments: dict[str, Any]
    edited: bool
    reason: str | None
    decided_by: str | None
    url: str | None

    def closed(self) -> GateClosed:
        """Return the error for a call that will not be run."""
        said = f" by {self.decided_by}" if self.decided_by and self.state == "denied" else ""
        why = f": {self.reason}" if self.reason else ""
        kind = _CLOSED.get(self.state, GateClosed)
        return kind(f"The call {self.call!r} is {self.state}{said}{why}. It was not run.", state=self.state)


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """A granted use, as the gate words it; ``begin_within`` and ``seconds`` count from before it was asked for."""

    task: str
    call: str
    arguments: dict[str, Any]
    digest: str
    key: str
    token: str
    begin_within: float
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A task of several calls as the gate shows it; ``status``: external, completed, failed, ..."""

    id: str
    agent: str
    title: str
    status: str


def opened_read(response: httpx.Response) -> Opened:
    """Return the task that an answer holds. Raises GateRefused, GateGarbage."""
    body = _body(response)
    title = body.get("title")
    return Opened(
        id=_text(body, "id"),
        agent=_text(body, "agent"),
        title=title if isinstance(title, str) else "",
        status=_text(body, "status"),
    )


def call_read(response: httpx.Response) -> Call:
    """Return the call that an answer holds. Raises GateRefused, GateGarbage."""
    body = _body(response)
    status = _text(body, "status")
    if status not in STATUSES:
        raise GateGarbage(f"The gate says {status!r} of the call, which means nothing to this client.")
    return Call(
        task=_text(body, "task"),
        call=_text(body, "call"),
        status=status,
        state=_text(body, "state"),
        digest=_text(body, "digest"),
        arguments=_object(body, "arguments"),
        edited=body.get("edited") is True,
        reason=_maybe(body, "reason"),
        decided_by=_maybe(body, "decided_by"),
        url=_maybe(body, "url"),
    )


def used_read(response: httpx.Response) -> Used:
    """Return the use that an answer grants. Raises GateUsed, GateClosed, GateRefused, GateGarbage."""
    body = _body(response)
    return Used(
        task=_text(body, "task"),
        call=_text(body, "call"),
        arguments=_object(body, "arguments"),
        digest=_text(body, "digest"),
        key=_text(body, "key"),
        token=_text(body, "token"),
        begin_within=_seconds(body, "begin_within"),
        seconds=_seconds(body, "seconds"),
    )


def _body(response: httpx.Response) -> dict[str, Any]:
    try:
        body = response.json()
    except ValueError:
        body = None
    if not response.is_success:
        raise _refusal(response, body)
    if not isinstance(body, dict):
        raise GateGarbage(f"The gate answered {response.status_code} with something that is no JSON object.")
    return body


def _refusal(response: httpx.Response, body: Any) -> Exception:
    problem = body if isinstance(body, dict) else {}
    code, status = str(problem.get("code", "")), response.status_code
    detail = str(problem.get("detail") or f"The gate answered {status}.")
    state = str(problem.get("state") or "")
    if code == "gate-used":
        return GateUsed(detail)
    if code == "gate-closed":
        return _CLOSED.get(state, GateClosed)(detail, state=state)
    return GateRefused(detail, status=status, code=code, problem=problem)


def _text(body: dict[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not value:
        raise GateGarbage(f"The gate's answer lacks {name!r}.")
    return value


def _maybe(body: dict[str, Any], name: str) -> str | None:
    value = body.get(name)
    return value if isinstance(value, str) else None


def _object(body: dict[str, Any], name: str) -> dict[str, Any]:
    value = body.get(name)
    if not isinstance(value, dict):
        raise GateGarbage(f"The gate's answer lacks {name!r}.")
    return value


def _seconds(body: dict[str, Any], name: str) -> float:
    value = body.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e7:
        raise GateGarbage(f"The gate's answer lacks {name!r}.")
    return float(value)
