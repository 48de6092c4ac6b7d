"""The API of drills: what the pages can do, under the same rights and limits."""

from typing import Any

import pytest
from django.test import Client

from chaos_app.models import DrillRun, DrillSwitch
from chaos_app.services.collect import drills_collect
from core.access import Right
from core.clock import database_now
from tasks_app.models import Event
from tasks_app.services.access import token_create
from tests.integration.drills.conftest import some, twice
from tests.people import People

pytestmark = pytest.mark.django_db
DRILLS = "/api/v1/drills"


@pytest.fixture(autouse=True)
def _own_folder(settings: Any, tmp_path: Any) -> None:
    settings.VAR_DIR = tmp_path


def bearer(people: People, *scopes: Right, kind: str = "person") -> Client:
    _, secret = token_create(
        workspace=people.workspace, user=people.rhea, name="ci", scopes=scopes, days=1, actor="system", kind=kind
    )
    return Client(headers={"Authorization": f"Bearer {secret}"})


def post(client: Client, path: str, body: dict[str, Any] | None = None) -> Any:
    return client.post(path, body or {}, content_type="application/json")


@pytest.fixture
def ci(people: People) -> Client:
    return bearer(people, Right.TASKS_READ, Right.DRILLS_RUN)


@pytest.fixture
def run(written: Any, people: People) -> DrillRun:
    written([*some(), twice()])
    drills_collect()
    DrillRun.objects.update(workspace=people.workspace)
    return DrillRun.objects.get()


def test_a_drill_is_previewed_launched_read_and_stopped_with_a_token(ci: Client, people: People) -> None:
    chosen = {"suite": "core", "row": ["E04"], "klass": ["keyed"]}
    seen = ci.get(f"{DRILLS}/preview", chosen).json()
    assert (seen["refused"], all(cell.startswith("E04.") for cell in seen["cells"])) == ("", True)
    assert not DrillRun.objects.exists()
    made = post(ci, DRILLS, chosen | {"seed": 5})
    assert made.status_code == 201, made.content
    run = made.json()
    assert (run["state"], run["seed"], run["launched_by"]) == ("starting", 5, "rhea")
    said = Event.objects.get(stream=people.workspace.pk, kind="drill.launched")
    assert said.data["selection"] == {"row": ["E04"], "klass": ["keyed"]}
    assert ci.get(DRILLS).json()[0]["id"] == run["id"]
    assert post(ci, DRILLS, chosen).status_code == 409
    assert post(ci, f"{DRILLS}/{run['id']}/stop").json()["stop_asked_at"]
    assert DrillRun.objects.get().stop_asked_by == people.rhea


def test_what_a_run_found_is_read_with_its_cases_and_its_report(ci: Client, run: DrillRun) -> None:
    one = ci.get(f"{DRILLS}/{run.pk}").json()
    assert (one["exit_code"], one["done"], one["state"]) == (1, 4, "ended")
    wrong = [case for case in ci.get(f"{DRILLS}/{run.pk}/cases").json() if not case["as_allowed"]]
    assert [(case["cell"], case["verdict"]) for case in wrong] == [("E04.twice", "REPEATED")]
    report = ci.get(f"{DRILLS}/{run.pk}/report/json")
    assert (report.json()["exit_code"], "attachment" in report["Content-Disposition"]) == (1, True)
    assert ci.get(f"{DRILLS}/{run.pk}/report/junit").content.startswith(b"<?xml")
    assert ci.get(f"{DRILLS}/{run.pk}/report/pdf").status_code == 404


def test_without_the_right_nothing_starts_and_from_elsewhere_nothing_is_there(people: People, run: DrillRun) -> None:
    reader = bearer(people, Right.TASKS_READ)
    assert post(reader, DRILLS, {"suite": "core"}).status_code == 403
    assert post(reader, f"{DRILLS}/{run.pk}/stop").status_code == 403
    outsider = Client()
    outsider.force_login(people.tobin)
    assert outsider.get(DRILLS).json() == []
    for path in ("", "/cases", "/report/json"):
        assert outsider.get(f"{DRILLS}/{run.pk}{path}").status_code == 404
    assert bearer(people, Right.TASKS_READ, Right.DRILLS_RUN, kind="agent").get(DRILLS).status_code == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"suite": "everything"}, "suite"),
        ({"suite": "soak", "row": ["E04"]}, "row"),
        ({"suite": "soak", "kills": 10**9}, "kills"),
        ({"suite": "core", "row": ["E99"]}, "row"),
        ({"suite": "core", "fault": ["thunder"]}, "fault"),
        ({"suite": "core", "cell": ["E04.a\x00"]}, "cell"),
        ({"suite": "core", "target": "os:system"}, "target"),
    ],
)
def test_what_cannot_be_run_is_refused_by_the_name_of_its_field(ci: Client, body: dict[str, Any], field: str) -> None:
    for refused in (post(ci, DRILLS, body), ci.get(f"{DRILLS}/preview", body)):
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, field)
    assert not DrillRun.objects.exists()


def test_where_drills_are_switched_off_the_preview_says_so_and_none_starts(ci: Client, people: People) -> None:
    DrillSwitch.objects.create(workspace=people.workspace, reason="Quiet.", set_by=people.rhea, set_at=database_now())
    assert "rhea switched drills off: Quiet." in ci.get(f"{DRILLS}/preview", {"suite": "full"}).json()["refused"]
    refused = post(ci, DRILLS, {"suite": "full"})
    assert (refused.status_code, refused.json()["code"]) == (403, "drills-refused")
