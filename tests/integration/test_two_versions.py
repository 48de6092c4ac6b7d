"""An upgrade as the deployment guide has it: new workers beside old ones, old ones stopped, nothing lost meanwhile."""

import signal
from contextlib import ExitStack
from pathlib import Path

import pytest

import tests.versions_old  # noqa: F401 - declares the agent
from tasks_app.services.signal import signal_send
from tests.crew import Crew, event, kinds, wait_status
from tests.integration.core.test_web_process import web
from tests.people import people_create
from tests.processes import wait_for


@pytest.mark.timeout(300)
@pytest.mark.django_db(transaction=True)
def test_a_task_of_the_old_version_is_ended_by_a_worker_of_the_new_one(
    child_environment: dict[str, str], tmp_path: Path
):
    with ExitStack() as stack:
        crew = Crew(stack, child_environment, tmp_path, people_create())
        crew.environment["HANDRAIL_MODULES"] = "tests.versions_old"
        old = crew.worker("old")
        crew.sweeper()
        task = crew.task(agent="two.versions")
        wait_status(task, "waiting")
        crew.environment["HANDRAIL_MODULES"] = "tests.versions_new"
        crew.worker("new")
        old.send_signal(signal.SIGTERM)
        assert old.wait(60) == 0
        with web(crew.environment, tmp_path) as client:  # the installation is ready with the new worker alone
            wait_for(lambda: client.get("/api/v1/ready").status_code == 200, what="readiness")
        signal_send(workspace=crew.people.workspace, task=task.pk, name="go", actor="person:rhea")
        wait_status(task, "completed")
        assert event(task.pk, "task.claimed_complete").data["summary"] == "the new version said so"
        assert "slice.lost" not in kinds(task.pk)
