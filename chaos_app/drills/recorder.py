"""A recording proxy in front of a user's service: the witness of every request, and what makes faults of the outside.

It runs in the controller, so that no worker writes the count. It speaks HTTP/1.1 in the clear; one request a
connection. A plan is met by the first acting request of its call and attempt, as the tools' headers say.
"""

import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

from chaos_app.drills.evidence import Arrival, Effect

READING = frozenset({"GET", "HEAD", "OPTIONS"})
HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length", "content-encoding", "host", "te"})
# By this header a service says that an answer is the first one, given again: then nothing new has happened.
REPLAYED = ("Idempotent-Replayed", "Idempotency-Replayed")
PARKED_AT_MOST = 120.0
UPSTREAM_SECONDS = 60.0
JUNK = b"<<< this is no answer of the service >>>"


@dataclass(eq=False, kw_only=True)
class Armed:
    """One fault that waits for its request. ``parked``: requests that wait at it now."""

    id: int
    fault: str
    match: Mapping[str, Any]
    plan: Mapping[str, Any]
    parked: int = 0
    is_cut: bool = False
    fired: int = 0
    log: list[dict[str, Any]] = field(default_factory=list)
    gate: threading.Event = field(default_factory=threading.Event)


class Recorder:
    """Forwards to ``upstream`` and writes down what passes."""

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream.rstrip("/")
        self.arrivals: list[Arrival] = []
        self.effects: list[Effect] = []
        self._armed: list[Armed] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, name="recorder", daemon=True).start()

    def arm(self, system: str, fault: str, *, match: Mapping[str, Any], **plan: Any) -> Armed:
        """Let the first request that fits ``match`` (call, attempt) meet a fault."""
        with self._lock:
            armed = Armed(id=len(self._armed), fault=fault, match=match, plan={"fault": fault, **plan})
            self._armed.append(armed)
        return armed

    def fault(self, number: int) -> Armed:
        """Return a fault as it stands."""
        return self._armed[number]

    def release(self, number: int, *, then: str = "go") -> None:
        """Let what waits at a hold go on, or ``cut`` it: then it never arrives."""
        self._armed[number].is_cut = then == "cut"
        self._armed[number].gate.set()

    def take(self, arrival: Arrival) -> Armed | None:
        """Return the fault that this request meets, once."""
        if not arrival.acts:
            return None
        with self._lock:
            for armed in self._armed:
                if not armed.fired and _fits(armed, arrival):
                    armed.fired += 1
                    armed.log.append({"what": "fired", "at": time.time()})
                    return armed
        return None

    def note(self, arrival: Arrival) -> int:
        """Write a request down; return its place in the list."""
        with self._lock:
            self.arrivals.append(arrival)
            return len(self.arrivals) - 1

    def counted(self, place: int, answer: httpx.Response, reference: str) -> None:
        """Write down how the service answered; an acting request that it granted anew is an effect."""
        replayed = any(answer.headers.get(name, "").lower() == "true" for name in REPLAYED)
        now = time.time()
        with self._lock:
            seen = self.arrivals[place]
            took = seen.acts and answer.is_success and not replayed
            more = {"status": answer.status_code, "ended": "answered", "ended_at": now, "replayed": replayed}
            self.arrivals[place] = Arrival(**{**vars(seen), **more, "applied_at": now if took else None})
            if took:
                self.effects.append(_effect(seen, now, reference or f"request {seen.id}"))

    def close(self) -> None:
        """Let everything go and stop listening."""
        for armed in self._armed:
            armed.gate.set()
        self._server.shutdown()
        self._server.server_close()


def _effect(arrival: Arrival, at: float, reference: str) -> Effect:
    return Effect(
        at=at,
        system=arrival.system,
        operation=arrival.operation,
        reference=reference,
        key=arrival.key,
        call=arrival.call,
        business_key=arrival.business_key,
        arrival=arrival.id,
    )


def _fits(armed: Armed, arrival: Arrival) -> bool:
    return all(getattr(arrival, name) == value for name, value in armed.match.items())


def _handler_of(recorder: Recorder) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """One request on its way through."""

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: the list is the log."""

        def handle_any(self) -> None:
            """Write it down, let it meet its fault, forward it, answer."""
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            place = recorder.note(self._arrival())
            armed = recorder.take(recorder.arrivals[place])
            kind = armed.fault if armed else ""
            if armed and kind == "hold" and armed.plan.get("at") == "before":
                _park(armed)
                if armed.is_cut:
                    self._cut()
                    return
            if armed and kind == "apply_late":
                self._cut()
                time.sleep(armed.plan["seconds"])
            answer = self._forward(body)
            if answer is None:
                self._cut()
                return
            recorder.counted(place, answer, answer.headers.get("Location", ""))
            if armed and kind == "hold" and armed.plan.get("at") == "applied":
                _park(armed)
            if armed and kind in {"delay", "slow"}:
                time.sleep(armed.plan["seconds"])
            if kind in {"lose_answer", "apply_late"}:
                self._cut()
            elif kind == "garbage":
                self._answer(200, {}, JUNK)
            elif kind == "fail_after":
                self._answer(500, {}, b"")
            else:
                self._answer(answer.status_code, dict(answer.headers), answer.content)

        do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = handle_any

        def _arrival(self) -> Arrival:
            said, attempt = self.headers, self.headers.get("Handrail-Attempt", "")
            return Arrival(
                id=len(recorder.arrivals) + 1,
                at=time.time(),
                system="service",
                operation=f"{self.command} {self.path.partition('?')[0]}",
                acts=self.command not in READING,
                key=said.get("Handrail-Key") or said.get("Idempotency-Key"),
                call=said.get("Handrail-Call"),
                attempt=int(attempt) if attempt.isdigit() else None,
                business_key=said.get("Handrail-Business-Key"),
            )

        def _forward(self, body: bytes) -> httpx.Response | None:
            headers = [(name, value) for name, value in self.headers.items() if name.lower() not in HOP]
            try:
                with httpx.Client(timeout=UPSTREAM_SECONDS, trust_env=False) as client:
                    return client.request(self.command, recorder.upstream + self.path, headers=headers, content=body)
            except httpx.HTTPError:  # the service does not answer: neither do we
                return None

        def _answer(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
            self.close_connection = True
            with suppress(OSError):  # whoever asked is dead
                self.send_response(status)
                for name, value in headers.items():
                    if name.lower() not in HOP:
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(body if self.command != "HEAD" else b"")

        def _cut(self) -> None:
            self.close_connection = True
            with suppress(OSError):
                self.connection.shutdown(2)

    return Handler


def _park(armed: Armed) -> None:
    armed.parked += 1
    armed.gate.wait(PARKED_AT_MOST)
    armed.parked -= 1
