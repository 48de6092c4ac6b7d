"""``/metrics`` tells an operator what matters, to who may read it, also about processes without pages."""

import os
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

import tests.scripts  # noqa: F401 - declares the agent
from approvals_app.models import ApprovalRequest
from approvals_app.selectors.gauges import gauges as approval_gauges
from tasks_app.models import Task
from tasks_app.selectors.gauges import gauges
from tasks_app.status import CallState
from tests.crew import Crew, wait_kind
from tests.integration.core.test_web_process import web
from tests.people import People, people_create
from tests.processes import wait_for
from tests.records import call_in, leased, new_task, task_set

TOKEN = "t" * 40


def figures(text: str) -> dict[str, float]:
    """Return every sample as ``name{label,label}``."""
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = ",".join(sample.labels.values())
            found[f"{sample.name}{{{labels}}}" if labels else sample.name] = sample.value
    return found


@pytest.fixture
def client() -> Client:
    return Client(headers={"Host": "localhost"})


def test_only_this_machine_or_the_token_may_read_it(client: Client, db: None, settings):
    assert client.get("/metrics").status_code == 200
    through_a_proxy = {"headers": {"X-Forwarded-For": "192.0.2.7"}}
    assert client.get("/metrics", **through_a_proxy).status_code == 403
    assert client.get("/metrics", REMOTE_ADDR="192.0.2.7").status_code == 403
    bearer = {"Authorization": "Bearer "}
    assert client.get("/metrics", REMOTE_ADDR="192.0.2.7", headers=bearer).status_code == 403  # no token, none is right
    settings.HANDRAIL_METRICS_TOKEN = TOKEN
    for given, status in ((TOKEN, 200), (TOKEN + "x", 403), ("", 403)):
        bearer = {"Authorization": f"Bearer {given}"}
        assert client.get("/metrics", REMOTE_ADDR="192.0.2.7", headers=bearer).status_code == status
    assert client.post("/metrics").status_code == 405


def test_it_is_told_in_the_format_that_was_asked_for(client: Client, db: None):
    plain = client.get("/metrics")
    assert plain["Content-Type"].startswith("text/plain")
    newer = client.get("/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
    assert newer["Content-Type"].startswith("application/openmetrics-text")
    assert newer.content.endswith(b"# EOF\n")


def test_tasks_calls_and_stops_are_counted_by_state(client: Client, people: People):
    for _ in range(2):
        new_task(people.workspace, people.rhea)
    call_in(leased(new_task(people.workspace, people.rhea)), "pay", CallState.IN_DOUBT)
    wait = {"kind": "approval"}
    task_set(new_task(people.workspace, people.rhea), status="waiting", wait=wait, wake_at=None)
    said = figures(client.get("/metrics").content.decode())
    assert (said["handrail_tasks{queued}"], said["handrail_tasks{running}"]) == (2, 1)
    assert (said["handrail_tasks{completed}"], said["handrail_tasks_waiting{approval}"]) == (0, 1)
    assert (said["handrail_calls_in_doubt"], said["handrail_tasks_due"]) == (1, 2)
    assert (said["handrail_database_up"], said["handrail_broker_up"], said["handrail_sweepers"]) == (1, 1, 0)


def test_each_source_gives_names_of_its_own(people: People):
    names = [figure.name for source in (gauges, approval_gauges) for figure in source()]
    assert len(names) == len(set(names))
    assert not ApprovalRequest.objects.exists()
    ages = [one for one in approval_gauges() if one.name == "handrail_approvals_waiting_seconds"]
    assert [dict(one.values) for one in ages] == [{(): 0.0}]


def test_a_database_that_is_away_costs_its_figures_and_nothing_else(tmp_path: Path):
    away = f"postgresql://nobody@/none?host={tmp_path}"
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "core.settings", "DATABASE_URL": away}
    with web(environment | {"HANDRAIL_METRICS_TOKEN": TOKEN}, tmp_path) as client:
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        answer = client.get("/metrics", headers=bearer)
        assert answer.status_code == 200
        said = figures(answer.text)
        assert said["handrail_database_up"] == 0
        assert said["handrail_http_answers_total{GET,/api/v1/health,200}"] >= 1
        client.get("/")
        client.get("/no/such/page")
        answers = [name for name in figures(client.get("/metrics", headers=bearer).text) if "answers_total" in name]
        assert {name.split(",")[1] for name in answers} == {"/", "/metrics", "/api/v1/health", "none"}


@pytest.mark.timeout(300)
@pytest.mark.django_db(transaction=True)
def test_what_workers_do_is_counted_also_by_those_that_were_killed(child_environment: dict[str, str], tmp_path: Path):
    folder = tmp_path / "metrics"
    environment = child_environment | {"PROMETHEUS_MULTIPROC_DIR": str(folder), "HANDRAIL_METRICS_TOKEN": TOKEN}
    with ExitStack() as stack:
        crew = Crew(stack, environment, tmp_path, people_create())
        crew.worker()
        task = crew.task("one", tool="c.die", arguments={"sku": "B-9"})  # ends its process
        wait_kind(task, "slice.lost", 2)
        with web(environment, tmp_path) as client:
            said = wait_for(lambda: _with_takeover(client), what="the takeover to be counted")
            assert said["handrail_takeover_seconds_count"] == 1
            # Each append of the worker's processes, the killed one's as well; a task's creation was ours.
            assert said["handrail_append_seconds_count"] >= 5
            assert (said["handrail_workers{working}"], said["handrail_keepers"]) == (1, 1)
            assert not [name for name in said if str(task.pk) in name]
    assert Task.objects.count() == 1


def _with_takeover(client: httpx.Client) -> dict[str, float]:
    answer = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    said = figures(answer.text)
    return said if said.get("handrail_takeover_seconds_count") else {}


@pytest.mark.django_db(transaction=True)
def test_gauges_of_a_web_process_that_was_killed_are_forgotten(child_environment: dict[str, str], tmp_path: Path):
    folder = tmp_path / "metrics"
    folder.mkdir()
    environment = child_environment | {"PROMETHEUS_MULTIPROC_DIR": str(folder), "HANDRAIL_METRICS_TOKEN": TOKEN}
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    with web(environment, tmp_path) as client:
        client.get("/metrics", headers=bearer)
        (mine,) = folder.glob("gauge_livesum_*.db")
        stale = folder / "gauge_livesum_99999999.db"  # above the kernel's highest process number
        stale.write_bytes(mine.read_bytes())
        client.get("/metrics", headers=bearer)
        assert (mine.exists(), stale.exists()) == (True, False)
