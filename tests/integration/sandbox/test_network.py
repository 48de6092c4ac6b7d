"""A sandbox reaches what its contract names, through the proxy outside, and nothing else."""

import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from tasks_app.contracts import Contract, EffectClass
from tasks_app.record.events import EgressConnected
from tasks_app.registry import contract_problem
from tasks_app.sandbox.egress import AT_ONCE, IN_ALL
from tests.integration.sandbox.conftest import act
from tests.sandbox_tools import box_keyed

pytestmark = pytest.mark.usefixtures("cold_and_warm")


class Page(BaseHTTPRequestHandler):
    timeout = 5  # seconds for a request: it serves one after another

    def do_GET(self) -> None:
        body = b"a page"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def port() -> Iterator[int]:
    server = HTTPServer(("127.0.0.1", 0), Page)
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    serving.start()
    try:
        yield server.server_port
    finally:
        threading.Thread(target=server.shutdown, daemon=True).start()  # it waits for as long as a request is served
        serving.join(30)
        server.server_close()


def box(*network: str, private: bool = False) -> Contract:
    return replace(box_keyed, name="box.net", network=network, private_network=frozenset(network if private else ()))


def connections(outcome) -> list[EgressConnected]:
    return [one for one in outcome.notes if isinstance(one, EgressConnected)]


def test_what_the_contract_names_is_reached_and_noted(port):
    outcome = act("fetch", contract=box(f"localhost:{port}", private=True), word=f"http://localhost:{port}/")
    assert outcome.result == "a page"
    (one,) = connections(outcome)
    assert (one.place, one.address, one.refused) == (f"localhost:{port}", "127.0.0.1", "")
    assert one.sent > 20
    assert one.received > 50


def test_a_private_address_is_refused_unless_declared(port):
    outcome = act("fetch", contract=box(f"localhost:{port}"), word=f"http://localhost:{port}/")
    assert outcome.result.startswith("OSError")
    (one,) = connections(outcome)
    assert "private, local or reserved" in one.refused
    assert (one.address, one.sent, one.received) == ("", 0, 0)


@pytest.mark.parametrize("what", ["fetch_or_fail", "fetch_or_die"])
def test_an_act_that_nothing_could_look_up_had_no_effect_if_it_reached_nothing(what):
    with socket.create_server(("127.0.0.1", 0)) as gone:
        away = gone.getsockname()[1]
    contract = replace(box(f"localhost:{away}", private=True), effect_class=EffectClass.OPAQUE, find=None)
    outcome = act(what, contract=contract, word=f"http://localhost:{away}/")
    assert (outcome.outcome, outcome.sent) == ("refused", False)
    assert (outcome.error or {})["code"] == "unreachable"
    assert f"localhost:{away}" in (outcome.error or {})["reason"]


def test_an_act_that_reached_anything_may_have_had_an_effect(port):
    with socket.create_server(("127.0.0.1", 0)) as gone:
        away = gone.getsockname()[1]
    contract = replace(box(f"localhost:{port}", f"localhost:{away}", private=True), effect_class=EffectClass.OPAQUE)
    outcome = act("fetch_twice", contract=contract, word=f"http://localhost:{port}/ http://localhost:{away}/")
    assert [bool(one.address) for one in connections(outcome)] == [True, False]
    assert (outcome.outcome, outcome.sent) == ("unknown", True)


def test_another_port_or_host_is_not_reached(port):
    contract = box(f"localhost:{port}", private=True)
    outcome = act("reach", contract=contract, word="localhost:1 127.0.0.1:9 example.com:443 169.254.169.254:80")
    assert all(one.startswith("OSError") for one in outcome.result.values())
    assert connections(outcome) == []


@pytest.mark.parametrize("word", ["example.com:443", "127.0.0.1:22", "localhost:1", "\x00\xff", "x" * 5000])
def test_the_way_out_asked_by_hand_lets_nothing_else_through(port, word):
    outcome = act("proxy_by_hand", contract=box(f"localhost:{port}", private=True), word=word)
    assert outcome.result == "closed" or outcome.result.startswith("OSError")
    assert all(one.refused for one in connections(outcome))


def test_a_connection_is_cut_at_the_deadline():
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        deaf.settimeout(10)
        port = deaf.getsockname()[1]
        began = time.monotonic()
        contract = box(f"localhost:{port}", private=True)
        outcome = act("fetch", contract=contract, seconds=8.0, word=f"http://localhost:{port}/")
        assert (outcome.error or {}).get("code") == "deadline", outcome
        assert time.monotonic() - began < 20.0
        inner, _ = deaf.accept()
        inner.settimeout(5)
        while inner.recv(4096):
            pass
        inner.close()
    assert [one.place for one in connections(outcome)] == [f"localhost:{port}"]


@pytest.mark.parametrize(
    "place", ["*.example.com:443", "example.com", "example.com:0", "example.com:http", "10.0.0.1:80", "[::1]:80", ":80"]
)
def test_a_contract_names_one_host_and_one_port(place):
    assert "network names" in (contract_problem(box(place)) or "")


def test_low_ports_can_be_named():
    outcome = act("reach_and_hear", contract=box("nowhere.invalid:443"), word="nowhere.invalid:443")
    assert outcome.result == {"heard": ""}  # as far as the door, where it ends
    (one,) = connections(outcome)
    assert one.refused


def test_connections_at_once_are_few_whatever_is_asked_for(port):
    outcome = act("connect_many", contract=box(f"localhost:{port}", private=True), word=f"localhost:{port}", number=200)
    assert 0 < outcome.result < 2 * AT_ONCE
    assert len(connections(outcome)) < 2 * AT_ONCE  # those that waited are taken as it ends


def test_connections_of_a_call_are_noted_up_to_a_number_and_the_rest_is_counted(port):
    outcome = act(
        "ask_many", contract=box(f"localhost:{port}", private=True), word="example.com:443", number=IN_ALL + 70
    )
    assert outcome.result == IN_ALL + 70
    *each, last = connections(outcome)
    assert len(each) == IN_ALL
    assert last.refused.startswith("70 more connections")
