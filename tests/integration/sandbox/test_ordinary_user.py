"""The walls of an ordinary user's worker, whoever runs the tests: what is recommended is not what a container does."""

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.processes import ROOT


@pytest.fixture(scope="module")
def said() -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.sandbox_ordinary"]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=100, check=False)
    assert ran.returncode == 0, ran.stderr
    answers: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return answers


@pytest.mark.parametrize("kind", ["alone", "network"])
def test_it_has_no_rights_and_gets_none(said: dict[str, Any], kind: str):
    seen = said[f"{kind} privileges"]
    assert {seen["CapEff"], seen["CapPrm"], seen["NoNewPrivs"]} == {"0" * 16, "1"}
    assert (seen["mount"], seen["userns"], seen["hostname"], seen["superuser"]) == (-1, -1, -1, "refused")
    assert set(said[f"{kind} system_calls"].values()) <= {"EPERM", "ENOSYS"}
    doors = ["socket"] if kind == "network" else []
    assert list(said[f"{kind} descriptors"].values()) == ["device", "pipe", "pipe", "socket", *doors]
    assert "written" not in said[f"{kind} write_outside"].values()
    assert said[f"{kind} inodes"]["code"] == "sandbox-files"


def test_low_ports_lead_to_its_proxy(said: dict[str, Any]):
    assert said["reach"] == {"heard": ""}  # as far as the door
