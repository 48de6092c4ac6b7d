"""Whatever a gate says that is not exactly a permission: the function does not run."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from handrail_gate import (
    Gate,
    GateClosed,
    GateDenied,
    GateDown,
    GateError,
    GateGarbage,
    GateRefused,
    GateTooLate,
    GateUsed,
)

CALL = {
    "task": "t-1",
    "call": "note",
    "status": "ready",
    "state": "approved",
    "digest": "d-1",
    "arguments": {"text": "hello"},
    "edited": False,
}
USED = {
    "task": "t-1",
    "call": "note",
    "digest": "d-1",
    "arguments": {"text": "hello"},
    "key": "k",
    "token": "hx_1_s",
    "begin_within": 2.0,
    "seconds": 10.0,
}


@contextmanager
def gate_saying(answers: dict[str, tuple[int, bytes]]) -> Iterator[tuple[Gate, list[tuple[str, Any]]]]:
    """A server that gives the same answer to each kind of request, and what it was asked."""
    seen: list[tuple[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            kind = self.path.rpartition("/")[2]
            seen.append((kind, body))
            status, said = answers[kind]
            self.send_response(status)
            self.send_header("Content-Length", str(len(said)))
            if 300 <= status < 400:
                self.send_header("Location", "/elsewhere")
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        with Gate(f"http://127.0.0.1:{server.server_port}", "hr_x", patience=0.5) as gate:
            yield gate, seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def said(body: Any, status: int = 200) -> tuple[int, bytes]:
    return status, json.dumps(body).encode()


def without(body: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key != name}


def function(gate: Gate, ran: list[str]) -> Callable[..., Any]:
    @gate.approved(tool="note")
    def note(text: str) -> str:
        ran.append(text)
        return text

    return note


GOOD = {"calls": said(CALL, 201), "use": said(USED), "report": said(CALL)}


def test_the_good_case_runs_so_that_the_others_mean_something():
    ran: list[str] = []
    with gate_saying(GOOD) as (gate, seen):
        assert function(gate, ran)("hello") == "hello"
    assert ran == ["hello"]
    assert [kind for kind, _ in seen] == ["calls", "use", "report"]


@pytest.mark.parametrize(
    ("kind", "answer", "error"),
    [
        ("calls", (200, b"<html>"), GateGarbage),
        ("calls", (200, b"[]"), GateGarbage),
        ("calls", said({**CALL, "status": "approved!"}), GateGarbage),
        ("calls", said(without(CALL, "digest")), GateGarbage),
        ("calls", (302, b""), GateRefused),
        ("calls", (404, b"no"), GateRefused),
        ("calls", (500, b"oops"), GateRefused),
        ("calls", (503, b""), GateDown),
        ("calls", said({**CALL, "status": "closed", "state": "denied"}), GateDenied),
        ("calls", said({**CALL, "status": "closed", "state": "voided"}), GateClosed),
        ("calls", said({**CALL, "status": "running", "state": "attempted"}), GateUsed),
        ("calls", said({**CALL, "status": "unknown", "state": "in_doubt"}), GateUsed),
        ("calls", said({**CALL, "status": "done", "state": "answered"}), GateUsed),
        ("use", (200, b""), GateGarbage),
        ("use", (200, b"\xff\xfe"), GateGarbage),
        ("use", (204, b""), GateGarbage),
        ("use", said(without(USED, "token")), GateGarbage),
        ("use", said(without(USED, "arguments")), GateGarbage),
        ("use", said({**USED, "seconds": "10"}), GateGarbage),
        ("use", said({**USED, "seconds": True}), GateGarbage),
        ("use", said({**USED, "digest": "d-2"}), GateGarbage),
        ("use", said({**USED, "begin_within": 0}), GateTooLate),
        ("use", (302, b""), GateRefused),
        ("use", said({"code": "gate-stopped", "detail": "Stopped."}, 409), GateRefused),
        ("use", (401, b""), GateRefused),
        ("use", (500, b""), GateRefused),
        ("use", (503, b""), GateDown),
    ],
)
def test_anything_else_than_a_permission_is_an_error_and_nothing_runs(
    kind: str, answer: tuple[int, bytes], error: type[GateError], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("handrail_gate.flows.USE_SECONDS", 0.3)
    ran: list[str] = []
    with gate_saying({**GOOD, kind: answer}) as (gate, _), pytest.raises(error):
        function(gate, ran)("hello")
    assert ran == []


def test_a_permission_that_was_never_begun_is_reported_as_failed():
    with gate_saying({**GOOD, "use": said({**USED, "begin_within": 0})}) as (gate, seen):
        with pytest.raises(GateTooLate):
            function(gate, [])("hello")
        assert [body["outcome"] for kind, body in seen if kind == "report"] == ["failed"]


def test_arguments_that_are_no_json_are_refused_before_anything_is_asked():
    with gate_saying(GOOD) as (gate, seen):
        with pytest.raises((TypeError, ValueError)):
            function(gate, [])(object())
        assert seen == []


def test_nobody_listens():
    ran: list[str] = []
    with Gate("http://127.0.0.1:9", "hr_x", patience=0.2) as gate, pytest.raises(GateDown):
        function(gate, ran)("hello")
    assert ran == []
