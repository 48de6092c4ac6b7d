"""The recording proxy: it counts what the service did, holds a request on its way, and spoils answers as it is told."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from chaos_app.drills.recorder import Recorder
from tests.processes import wait_for

MARKS = {"Handrail-Key": "k1", "Handrail-Call": "t/act", "Handrail-Attempt": "1", "Handrail-Business-Key": "b:1"}


class Service(BaseHTTPRequestHandler):
    """Acts once a key, and says when it only repeats its answer."""

    done: list[str] = []

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        key = self.headers["Handrail-Key"]
        known = key in self.done
        self.done.extend([] if known else [key])
        self.send_response(201)
        self.send_header("Idempotent-Replayed", str(known).lower())
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"seen")


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    Service.done = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    proxy = Recorder(f"http://127.0.0.1:{server.server_address[1]}")
    yield proxy
    proxy.close()
    server.shutdown()
    server.server_close()


def send(recorder: Recorder, **more: Any) -> httpx.Response:
    with httpx.Client(base_url=recorder.url, trust_env=False, timeout=10) as client:
        return client.post("/acts", headers=MARKS, **more)


def test_an_acting_request_is_an_effect_with_its_marks_and_a_repeated_answer_is_none(recorder: Recorder) -> None:
    assert send(recorder).status_code == 201
    assert send(recorder).status_code == 201
    assert [(one.key, one.call, one.business_key) for one in recorder.effects] == [("k1", "t/act", "b:1")]
    assert [one.replayed for one in recorder.arrivals] == [False, True]


def test_reading_is_written_down_and_is_no_effect(recorder: Recorder) -> None:
    assert httpx.get(f"{recorder.url}/acts?x=1", trust_env=False).text == "seen"
    assert [(one.acts, one.operation) for one in recorder.arrivals] == [(False, "GET /acts")]
    assert recorder.effects == []


def test_a_request_is_held_before_the_service_has_it_and_goes_on_when_released(recorder: Recorder) -> None:
    plan = recorder.arm("service", "hold", match={"call": "t/act", "attempt": 1}, at="before")
    asking = threading.Thread(target=send, args=[recorder])
    asking.start()
    wait_for(lambda: recorder.fault(plan.id).parked == 1, seconds=10, what="the request to be held")
    assert Service.done == []
    recorder.release(plan.id)
    asking.join(10)
    assert Service.done == ["k1"]


def test_a_request_that_is_cut_on_its_way_never_arrives(recorder: Recorder) -> None:
    plan = recorder.arm("service", "hold", match={"call": "t/act", "attempt": 1}, at="before")
    failed = []

    def ask() -> None:
        try:
            send(recorder)
        except httpx.HTTPError as error:
            failed.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    wait_for(lambda: recorder.fault(plan.id).parked == 1, seconds=10, what="the request to be held")
    recorder.release(plan.id, then="cut")
    asking.join(10)
    assert len(failed) == 1
    assert Service.done == []


def test_an_answer_is_lost_after_the_service_acted(recorder: Recorder) -> None:
    recorder.arm("service", "lose_answer", match={"call": "t/act", "attempt": 1})
    with pytest.raises(httpx.RemoteProtocolError):
        send(recorder)
    assert len(recorder.effects) == 1
    assert send(recorder).status_code == 201  # only the first met the fault


SPOILT = [("garbage", 200, "no answer of the service"), ("fail_after", 500, "")]


@pytest.mark.parametrize(("fault", "status", "text"), SPOILT)
def test_an_answer_is_spoilt_after_the_service_acted(recorder: Recorder, fault: str, status: int, text: str) -> None:
    recorder.arm("service", fault, match={"call": "t/act", "attempt": 1})
    answer = send(recorder)
    assert (answer.status_code, text in answer.text) == (status, True)
    assert len(recorder.effects) == 1


def test_a_request_of_another_attempt_meets_no_fault(recorder: Recorder) -> None:
    recorder.arm("service", "fail_after", match={"call": "t/act", "attempt": 2})
    assert send(recorder).status_code == 201
