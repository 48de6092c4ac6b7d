"""What the contracts of the incident tools say of their sandboxes."""

import subprocess
import sys

import pytest

import chaos_app.incidents  # noqa: F401 - declares the tools
from chaos_app.incidents.outside import mail_address, web_address
from chaos_app.incidents.walls import MAIL, WEB, reaching
from tasks_app.registry import tools
from tests.processes import ROOT

SHOWN = """
from tasks_app.registry import tools
import chaos_app.incidents
for one in tools():
    print(one.name, one.sandbox, ",".join(one.network), ",".join(sorted(one.private_network)))
"""


def test_no_tool_of_the_incidents_does_without_a_sandbox() -> None:
    mine = [one for one in tools() if one.execute.__module__.startswith("chaos_app.incidents")]
    assert len(mine) == 5
    assert {str(one.sandbox) for one in mine} == {"available"}


def test_each_contract_names_the_systems_of_its_tool_and_no_other() -> None:
    environment = {WEB: "http://127.0.0.1:4001", MAIL: "127.0.0.1:4002", "PYTHONPATH": str(ROOT)}
    said = subprocess.run([sys.executable, "-c", SHOWN], env=environment, capture_output=True, text=True, check=True)
    web, both = "available localhost:4001 localhost:4001", "localhost:4001,localhost:4002"
    assert said.stdout.splitlines() == [
        f"config.change {web}",
        f"config.read {web}",
        f"mail.notify available {both} {both}",
        f"ticket.open {web}",
        f"vendor.credit {web}",
    ]


def test_without_an_address_nothing_is_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(WEB, raising=False)
    assert reaching(WEB) == {"network": (), "private_network": frozenset(), "environment": (WEB,)}


def test_an_address_is_used_under_the_name_that_the_contract_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WEB, "http://127.0.0.1:4001")
    monkeypatch.setenv(MAIL, "127.0.0.1:4002")
    assert (web_address(), mail_address()) == ("http://localhost:4001", ("localhost", 4002))
