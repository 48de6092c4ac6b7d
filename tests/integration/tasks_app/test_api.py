"""The API of tasks, as a client uses it: with a token, by key, page by page."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from core.access import PEOPLE_ONLY, Right
from tasks_app.models import Call, Task
from tasks_app.services.access import token_create
from tasks_app.status import CallState
from tests.people import People
from tests.records import call_in, new_task, task_set

TASKS = "/api/v1/tasks"


@pytest.fixture
def api(people: People) -> Client:
    return bearer(people, *Right)


def bearer(people: People, *scopes: Right, kind: str = "person") -> Client:
    wanted = [right for right in scopes if kind == "person" or right not in PEOPLE_ONLY]
    _, secret = token_create(
        workspace=people.workspace, user=people.rhea, name="t", scopes=wanted, days=1, actor="system", kind=kind
    )
    # CSRF is for sessions: a token needs no mark.
    return Client(enforce_csrf_checks=True, headers={"Authorization": f"Bearer {secret}"})


def post(client: Client, path: str, body: dict[str, Any] | None = None, **headers: str) -> Any:
    return client.post(path, body or {}, content_type="application/json", headers=headers)


def test_a_task_is_created_read_and_followed(api: Client) -> None:
    made = post(api, TASKS, {"agent": "test.note", "intent": {"text": "hi"}, "labels": {"team": "ops"}})
    assert made.status_code == 201
    task = made.json()
    assert (task["status"], task["owner"], task["agent_version"]) == ("queued", "rhea", 2)
    assert api.get(f"{TASKS}/{task['id']}").json()["intent"] == {"text": "hi", "copies": 1}
    events = api.get(f"{TASKS}/{task['id']}/events").json()
    assert (events["head_seq"], events["has_more"], events["items"][0]["kind"]) == (1, False, "task.created")


def test_the_same_key_is_the_same_task_by_header_or_body(api: Client) -> None:
    body = {"agent": "test.free", "intent": {}}
    first = post(api, TASKS, body, **{"Idempotency-Key": "k-1"}).json()
    assert post(api, TASKS, {**body, "request_key": "k-1"}).json()["id"] == first["id"]


def test_a_list_is_paged_by_key_without_gap_or_double(api: Client, people: People) -> None:
    made = [str(new_task(people.workspace, people.rhea).id) for _ in range(5)]
    seen, before = [], ""
    while True:
        page = api.get(f"{TASKS}?limit=2{before}").json()
        seen += [row["id"] for row in page["items"]]
        if page["next"] is None:
            break
        before = f"&before={page['next']}"
    assert seen == made[::-1]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("text=nvoice", 1),
        ("text=50%25", 0),
        ("status=queued", 2),
        ("status=failed", 0),
        ("agent=test.note", 1),
        ("label=team", 1),
        ("label=team=ops", 1),
        ("label=team=web", 0),
        ("owner=rhea", 2),
        ("owner=silas", 0),
        ("text=%00", 2),
    ],
)
def test_a_list_is_narrowed(api: Client, people: People, query: str, found: int) -> None:
    new_task(people.workspace, people.rhea, title="Invoice", labels={"team": "ops"})
    new_task(people.workspace, people.rhea, agent="test.note", intent={"text": "x"})
    assert len(api.get(f"{TASKS}?{query}").json()["items"]) == found


def test_a_task_is_found_by_the_beginning_of_its_id(api: Client, people: People) -> None:
    task = new_task(people.workspace, people.rhea)
    assert api.get(f"{TASKS}?text={str(task.id)[:20]}").json()["items"][0]["id"] == str(task.id)


def test_events_are_read_in_windows_from_both_ends(api: Client, people: People) -> None:
    task = new_task(people.workspace, people.rhea)
    for _ in range(6):
        task_set(task)

    def window(query: str) -> tuple[list[int], bool]:
        body = api.get(f"{TASKS}/{task.id}/events?{query}").json()
        return [item["seq"] for item in body["items"]], body["has_more"]

    assert window("limit=3") == ([1, 2, 3], True)
    assert window("after=3&limit=3") == ([4, 5, 6], True)
    assert window("after=6") == ([7], False)
    assert window("before=5&limit=2") == ([3, 4], True)
    assert window("after=7") == ([], False)


def test_a_large_value_is_read_from_its_blob_as_a_download(api: Client) -> None:
    task = post(api, TASKS, {"agent": "test.free", "intent": {"text": "x" * 20_000}}).json()
    data = api.get(f"{TASKS}/{task['id']}/events").json()["items"][0]["data"]
    sha256 = data["intent"]["text"]["$blob"]["sha256"]
    blob = api.get(f"{TASKS}/{task['id']}/blobs/{sha256}")
    assert blob["Content-Disposition"].startswith("attachment")
    assert b"xxxx" in blob.content


def test_operators_commands_over_http(api: Client, people: People) -> None:
    task = new_task(people.workspace, people.rhea)
    path = f"{TASKS}/{task.id}"
    assert post(api, f"{path}/pause", {"reason": "look"}).json()["status"] == "paused"
    assert post(api, f"{path}/resume").json()["status"] == "queued"
    sent = post(api, f"{path}/signal", {"name": "go"}, **{"Idempotency-Key": "s"}).json()
    assert post(api, f"{path}/signal", {"name": "go"}, **{"Idempotency-Key": "s"}).json() == sent | {"first": False}
    assert post(api, f"{path}/cancel", {"reason": "enough"}).json()["status"] == "cancelled"
    assert post(api, f"{path}/pause", {"reason": "look"}).status_code == 409


def test_a_call_in_doubt_is_settled_over_http_even_with_a_slash_in_its_name(api: Client, people: People) -> None:
    task = new_task(people.workspace, people.rhea)
    call_in(task, "pay/INV 1", CallState.IN_DOUBT)
    task_set(task, status="in_doubt", wake_at=None)
    assert api.get(f"{TASKS}/{task.id}").json()["calls_in_doubt"] == ["pay/INV 1"]
    body = {"answer": "happened", "evidence": "bank", "reference": "tx"}
    settled = post(api, f"{TASKS}/{task.id}/calls/pay%2FINV%201/settle", body)
    assert (settled.status_code, settled.json()["state"]) == (200, "happened")
    assert api.get(f"{TASKS}/{task.id}/calls").json()[0]["reference"] == "tx"


def test_stops_over_http(api: Client) -> None:
    stop = post(api, "/api/v1/stops", {"scope": "tool", "name": "ledger.pay", "reason": "runaway"}).json()
    assert [one["id"] for one in api.get("/api/v1/stops").json()] == [stop["id"]]
    assert post(api, f"/api/v1/stops/{stop['id']}/lift", {"reason": "fixed"}).status_code == 204
    assert api.get("/api/v1/stops").json() == []


def test_a_programs_token_stops_what_is_in_its_workspace_but_frees_nothing(api: Client, people: People) -> None:
    User.objects.filter(pk=people.rhea.pk).update(is_superuser=True)
    program = bearer(people, *Right, kind="agent")
    stop = post(program, "/api/v1/stops", {"scope": "tool", "name": "ledger.pay", "reason": "runaway"}).json()
    assert post(program, "/api/v1/stops", {"scope": "all", "reason": "r"}).status_code == 403
    refused = post(program, f"/api/v1/stops/{stop['id']}/lift", {"reason": "free again"})
    assert (refused.status_code, "a person does" in refused.json()["detail"]) == (403, True)
    assert [one["id"] for one in api.get("/api/v1/stops").json()] == [stop["id"]]


def test_a_scope_that_is_missing_is_a_403(people: People) -> None:
    reader = bearer(people, Right.TASKS_READ)
    assert reader.get(TASKS).status_code == 200
    refused = post(reader, TASKS, {"agent": "test.free", "intent": {}})
    assert (refused.status_code, refused.json()["right"]) == (403, "tasks:create")
    assert not Task.objects.exists()


def test_a_program_acts_under_its_own_name(people: People) -> None:
    program = bearer(people, *Right, kind="agent")
    task = post(program, TASKS, {"agent": "test.free", "intent": {}}).json()
    assert program.get(f"{TASKS}/{task['id']}/events").json()["items"][0]["actor"] == "agent-token:t"


def test_a_programs_task_belongs_to_the_person_whose_token_it_has(people: People) -> None:
    """With another owner nothing would say who stands behind it, and they could decide what it asks for."""
    program = bearer(people, *Right, kind="agent")
    body = {"agent": "test.free", "intent": {}}
    refused = post(program, TASKS, body | {"owner": "silas"})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "owner"
    assert not Task.objects.exists()
    assert post(program, TASKS, body | {"owner": "rhea"}).json()["owner"] == "rhea"
    assert post(bearer(people, *Right), TASKS, body | {"owner": "silas"}).json()["owner"] == "silas"


OUTSIDE = [
    ("get", "{task}", None),
    ("get", "{task}/events", None),
    ("get", "{task}/calls", None),
    ("get", "{task}/blobs/" + "0" * 64, None),
    ("get", "{task}/resume-brief", None),
    ("post", "{task}/recheck", {}),
    ("post", "{task}/pause", {"reason": "x"}),
    ("post", "{task}/resume", {}),
    ("post", "{task}/cancel", {"reason": "x"}),
    ("post", "{task}/move", {"to_version": 1, "reason": "x"}),
    ("post", "{task}/signal", {"name": "x"}),
    ("post", "{task}/copy", {}),
    ("post", "{task}/calls/pay/allow-repeat", {"reason": "x"}),
    ("post", "{task}/calls/pay/settle", {"answer": "happened", "evidence": "x"}),
    ("post", "{task}/calls/pay/look-up", None),
]


@pytest.mark.parametrize(("method", "path", "body"), OUTSIDE)
def test_the_outsider_meets_the_same_404_as_for_what_never_was(
    people: People, client: Client, method: str, path: str, body: dict[str, Any] | None
) -> None:
    task = new_task(people.workspace, people.rhea)
    call_in(task, "pay", CallState.IN_DOUBT)
    head = Task.objects.get().head_seq
    client.force_login(people.tobin)

    def ask(identity: str) -> Any:
        address = f"{TASKS}/{path.format(task=identity)}"
        return client.get(address) if method == "get" else post(client, address, body)

    real, unknown = ask(str(task.id)), ask("01a2287c-0000-7000-8000-000000000000")
    assert real.status_code == unknown.status_code == 404
    assert {**real.json(), "instance": ""} == {**unknown.json(), "instance": ""}
    assert Task.objects.get().head_seq == head
    assert Call.objects.get().state == "in_doubt"


def test_every_route_of_a_task_is_in_the_outsiders_list() -> None:
    from core.api import api as whole

    routes = {
        (method, path.removeprefix(f"{TASKS}/").replace("{name}", "pay").replace("{sha256}", "0" * 64))
        for path, methods in whole.get_openapi_schema()["paths"].items()
        for method in methods
        if path.startswith(f"{TASKS}/{{task}}")
    }
    assert routes == {(method, path) for method, path, _ in OUTSIDE}


def test_the_outsiders_lists_are_empty(people: People, client: Client) -> None:
    new_task(people.workspace, people.rhea)
    client.force_login(people.tobin)
    assert client.get(TASKS).json()["items"] == []
    assert client.get("/api/v1/stops").json() == []
