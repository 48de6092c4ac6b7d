"""The example that a newcomer runs first: an agent outside, its tool declared to the stack, a person's decision."""

import json
import subprocess
import sys
from pathlib import Path

from approvals_app.models import ApprovalRequest
from tasks_app.models import Call
from tests.desk import Desk, decide
from tests.processes import ROOT, wait_for
from tests.serving import web_server

MODULE = {"HANDRAIL_MODULES": "outside_agent.tools", "PYTHONPATH": str(ROOT / "examples")}


def test_the_refund_is_made_once_it_is_approved_and_never_a_second_time(
    desk: Desk, token: str, child_environment: dict[str, str], tmp_path: Path
):
    ledger = tmp_path / "refunds.jsonl"
    with web_server(child_environment | MODULE, tmp_path) as server:
        ours = {"HANDRAIL_URL": server.address, "HANDRAIL_TOKEN": token, "REFUNDS": str(ledger)}
        environment = child_environment | ours | {"PYTHONPATH": str(ROOT / "clients" / "python")}
        command = [sys.executable, "examples/outside_agent/agent.py", "A-7", "12.50"]
        with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as agent:
            request = wait_for(lambda: ApprovalRequest.objects.select_related("task", "workspace").first())
            assert (request.line, request.agent, ledger.exists()) == ("Refund 12.50 for order A-7", "noter", False)
            decide(request, desk.rhea)
            assert "Done: " in agent.communicate(timeout=30)[0]
        again = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=30)
    assert (again.returncode, "Not done" in again.stderr) == (1, True)
    call = Call.objects.get()
    assert [json.loads(line) for line in ledger.read_text().splitlines()] == [
        {"order": "A-7", "amount": "12.50", "key": call.key}
    ]
    assert call.state == "answered"
