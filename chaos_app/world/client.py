"""A small typed client: starts a world as a child process, arms faults, reads what is really there."""

import os
import select
import signal
import smtplib
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
from pydantic import BaseModel, ConfigDict

from chaos_app.world.marks import ATTEMPT, BUSINESS_KEY, CALL, FAULT, IDEMPOTENCY_KEY, KEY

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 20.0


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True)


class Arrival(_Read):
    """One request as the world counted it; ``applied_at`` is none where nothing was applied."""

    id: int
    at: float
    system: str
    operation: str
    acts: bool
    method: str
    path: str
    key: str | None
    business_key: str | None
    call: str | None
    attempt: int | None
    arguments: Any
    fault: str | None
    fault_id: int | None
    status: int | None
    ended: str | None
    ended_at: float | None
    replayed: bool
    applied_at: float | None


class Effect(_Read):
    """One effect; ``stored``: the real storage has it, ``counted``: the ledger knew of it."""

    id: int | None
    arrival: int | None
    at: float
    system: str
    operation: str
    key: str | None
    business_key: str | None
    call: str | None
    item: str | None
    reference: str
    arguments: Any
    planted: bool
    late: bool
    stored: bool
    counted: bool


class Ledger(_Read):
    """Arrivals and effects, and where ledger and storage disagree."""

    arrivals: list[Arrival]
    effects: list[Effect]
    disagreements: list[str]


class FaultSeen(_Read):
    """An armed plan: how many arrivals fitted, how often it fired, how many reached its hold and are parked now."""

    id: int
    armed: bool
    seen: int
    fired: int
    reached: int
    parked: int
    plan: dict[str, Any]
    log: list[dict[str, Any]]


class WorldClient:
    """Talks to a running world. ``http`` is open for requests to the systems themselves."""

    def __init__(self, url: str, *, seconds: float = 10.0) -> None:
        self.url = url
        self.http = httpx.Client(base_url=url, timeout=seconds, trust_env=False)

    def ledger(self, **filters: str | float | None) -> Ledger:
        """Filters: key, business_key, call, system, since (seconds since 1970), after (arrival id), limit."""
        return Ledger.model_validate(self._get("/ledger", **filters))

    def effects(self, **filters: str | float | None) -> list[Effect]:
        """Effects only; filters as ``ledger``."""
        return [Effect.model_validate(row) for row in self._get("/ledger/effects", **filters)["effects"]]

    def state(self) -> dict[str, Any]:
        """Everything that the world's page shows."""
        return dict(self._get("/api/state"))

    def arm(self, system: str, fault: str, *, match: Mapping[str, Any] | None = None, **plan: Any) -> FaultSeen:
        """Arm a fault; ``plan``: seconds, times, at, status, count, answer."""
        body = {"system": system, "fault": fault, "match": dict(match or {}), **plan}
        return FaultSeen.model_validate(self._done(self.http.post("/faults", json=body)))

    def fault(self, fault_id: int) -> FaultSeen:
        """One armed fault as it is."""
        return FaultSeen.model_validate(self._get(f"/faults/{fault_id}"))

    def wait_reached(self, fault_id: int, *, count: int = 1, seconds: float = 10.0) -> FaultSeen:
        """Wait until ``count`` requests reached the hold. Raises ``TimeoutError``."""
        answer = self.http.get(
            f"/faults/{fault_id}", params={"reached": count, "seconds": seconds}, timeout=seconds + 10
        )
        seen = FaultSeen.model_validate(self._done(answer))
        if seen.reached < count:
            raise TimeoutError(f"hold {fault_id} was reached {seen.reached} times, not {count}, within {seconds} s")
        return seen

    def release(self, fault_id: int, *, then: str = "go") -> int:
        """Let parked requests go on, or ``cut`` them; how many there were."""
        return int(self._done(self.http.post(f"/faults/{fault_id}/release", json={"then": then}))["released"])

    def disarm(self, fault_id: int | None = None) -> None:
        """Take one fault away, or all of them."""
        self._done(self.http.delete("/faults" if fault_id is None else f"/faults/{fault_id}"))

    def set_retention(self, seconds: float) -> None:
        """How long keys are remembered from now on."""
        self._done(self.http.put("/settings", json={"retention_seconds": seconds}))

    def forget_keys(self) -> None:
        """As if the retention of every remembered key were over."""
        self._done(self.http.delete("/keys"))

    def close(self) -> None:
        """Close the connections."""
        self.http.close()

    def _get(self, path: str, **parameters: Any) -> Any:
        given = {name: value for name, value in parameters.items() if value is not None}
        return self._done(self.http.get(path, params=given))

    def _done(self, answer: httpx.Response) -> Any:
        answer.raise_for_status()
        return answer.json()


@dataclass
class World:
    """A world that this process started. Leaving the ``with`` block stops it."""

    process: subprocess.Popen[bytes]
    folder: Path
    url: str
    smtp: tuple[str, int]
    client: WorldClient

    @property
    def pid(self) -> int:
        """Its process id."""
        return self.process.pid

    def stop(self, *, seconds: float = 10.0) -> int:
        """SIGTERM, then wait; its exit status (0)."""
        return self._end(signal.SIGTERM, seconds)

    def kill(self) -> int:
        """SIGKILL, then wait; its exit status (-9)."""
        return self._end(signal.SIGKILL, 10.0)

    def _end(self, number: signal.Signals, seconds: float) -> int:
        self.client.close()
        if self.process.poll() is None:
            self.process.send_signal(number)
        status = self.process.wait(seconds)
        if self.process.stdout:
            self.process.stdout.close()
        return status

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def world_start(
    folder: Path, *, seed: Path | None = None, port: int = 0, smtp_port: int = 0, retention: float | None = None
) -> World:
    """Start a world in ``folder`` and wait until it listens; it ends with this process (on Linux).

    Raises ``RuntimeError`` with what it said if it does not start. Its log is ``world.log`` in the folder. Call it
    from a thread that lives as long as the world should: the kernel ties the child to the thread that made it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "chaos_app.world", "--dir", str(folder), "--with-parent", str(os.getpid())]
    command += ["--port", str(port), "--smtp-port", str(smtp_port)]
    command += ["--seed", str(seed)] if seed else []
    command += ["--retention", str(retention)] if retention is not None else []
    environment = {"PATH": os.environ.get("PATH", os.defpath), "PYTHONPATH": str(ROOT)}
    with (folder / "world.log").open("ab") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, env=environment, cwd=ROOT
        )
    line = _first_line(process, folder / "world.log")
    _, _, url, _, smtp = line.split()
    host, _, number = smtp.partition(":")
    return World(process, folder, url, (host, int(number)), WorldClient(url))


def _first_line(process: subprocess.Popen[bytes], log: Path) -> str:
    stream = process.stdout
    if stream is None:
        raise RuntimeError("the world has no output to read")
    end = time.monotonic() + START_SECONDS
    ready, _, _ = select.select([stream], [], [], max(0.0, end - time.monotonic()))
    line = stream.readline().decode() if ready else ""
    if not line.startswith("world ready "):
        process.kill()
        process.wait()
        stream.close()
        raise RuntimeError(f"the world did not start: {log.read_text().strip()[-2000:] or line}")
    return line


def headers(
    *,
    key: str | None = None,
    business_key: str | None = None,
    call: str | None = None,
    attempt: int | None = None,
    fault: str | None = None,
    idempotent: bool = True,
) -> dict[str, str]:
    """Headers of a request: the key as ``Idempotency-Key`` too (unless not ``idempotent``), marks, a fault."""
    named = {KEY: key, IDEMPOTENCY_KEY: key if idempotent else None, BUSINESS_KEY: business_key, CALL: call}
    named |= {ATTEMPT: str(attempt) if attempt is not None else None, FAULT: fault}
    return {name: value for name, value in named.items() if value is not None}


def mail_send(
    smtp: tuple[str, int],
    *,
    message_id: str,
    to: str,
    subject: str,
    body: str,
    sender: str = "agent@handrail.test",
    marks: Mapping[str, str] | None = None,
    seconds: float = 10.0,
) -> None:
    """Send one message over SMTP. Raises what ``smtplib`` raises, or ``OSError`` where the connection breaks."""
    message = EmailMessage()
    message["Message-ID"] = f"<{message_id}>"
    message["From"], message["To"], message["Subject"] = sender, to, subject
    for name, value in (marks or {}).items():
        message[name] = value
    message.set_content(body)
    with smtplib.SMTP(*smtp, timeout=seconds) as server:
        server.send_message(message)
