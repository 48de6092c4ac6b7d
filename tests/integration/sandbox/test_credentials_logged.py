"""What a tool in the worker itself logs or prints: no value of a credential is among it."""

from contextlib import ExitStack
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from tasks_app.services.credentials import credential_set
from tests.crew import Crew, wait_kind
from tests.people import people_create

PLANTED = 'pl4nted-"Secret"/value+9f7'
WAYS = ("printed", "printed as an error", "logged", "logged in our way", "raised with")


@pytest.mark.django_db(transaction=True)
@pytest.mark.timeout(240)
@pytest.mark.parametrize(("logs", "pool"), [("", "prefork"), ("json", "prefork"), ("", "threads")])
def test_nothing_that_a_worker_says_holds_a_credential(
    child_environment: dict[str, str], settings, tmp_path: Path, logs: str, pool: str
):
    key = Fernet.generate_key().decode()
    settings.HANDRAIL_CREDENTIAL_KEYS = [key]
    with ExitStack() as stack:
        crew = Crew(stack, child_environment, tmp_path, people_create())
        crew.environment |= {"HANDRAIL_MODULES": "tests.sandbox_tools", "HANDRAIL_CREDENTIAL_KEYS": key}
        crew.environment |= {"HANDRAIL_LOGS": logs} if logs else {}
        workspace = crew.people.workspace
        credential_set(workspace=workspace, name="planted", value=PLANTED, actor="person:rhea")
        crew.worker(more=("--pool", pool))
        arguments = {"what": "secret_log", "word": "planted"}
        task = crew.task(agent="box.run", tool="box.here", arguments=arguments)
        crew.sweeper()
        assert wait_kind(task, "call.outcome").data["result"] == "logged"
    said = "".join(log.read_text() for log in tmp_path.glob("worker-*.log"))
    assert "4nted-" not in said
    assert all(way in said for way in WAYS), said
    assert said.count("masked:known") >= len(WAYS)
