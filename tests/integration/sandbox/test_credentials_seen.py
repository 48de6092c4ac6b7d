"""What people and programs see of credentials, who may take one back, and that nothing shows a value."""

import json

import pytest
from django.test import Client

from core.access import Role
from core.models import Membership
from tasks_app.models import Credential, CredentialGrant
from tasks_app.services.credentials import credential_set
from tasks_app.testing import task_run, worker_here
from tests.integration.sandbox.test_credentials import PLANTED, begin, events
from tests.people import People

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def used(people: People):
    credential_set(workspace=people.workspace, name="planted", value=PLANTED, actor="person:rhea")
    return task_run(begin(people, "secret_length").pk, worker_here(), most=3)


@pytest.fixture
def administrator(people: People, client: Client) -> Client:
    Membership.objects.create(user=people.silas, workspace=people.workspace, role=Role.ADMIN)
    client.force_login(people.silas)
    return client


def test_the_api_lists_names_versions_use_and_grants_and_no_value(administrator: Client, used):
    (one,) = administrator.get("/api/v1/credentials").json()
    assert (one["name"], one["version"], one["grants"], one["open_grants"]) == ("planted", 1, 2, 0)
    assert one["tools"] == ["box.here", "box.secret"]
    assert one["last_used_at"]
    grants = administrator.get("/api/v1/credentials/planted/grants").json()
    assert [(grant["role"], grant["state"]) for grant in grants] == [("verify", "used"), ("execute", "used")]
    assert PLANTED not in json.dumps([one, grants])
    assert administrator.get("/api/v1/credentials/other/grants").status_code == 404


def test_it_is_revoked_over_the_api_with_a_reason(administrator: Client, people: People, used):
    answer = administrator.post(
        "/api/v1/credentials/planted/revoke", {"reason": "leaked"}, content_type="application/json"
    )
    assert (answer.status_code, answer.json()) == (200, {"taken_back": 2})  # used a moment ago: who holds it is ended
    again = task_run(begin(people, "secret_length").pk, worker_here(), most=3)
    assert events(again, "call.outcome")[0]["error"]["code"] == "credential-missing"
    assert administrator.post("/api/v1/credentials/no/revoke", {"reason": "x"}, "application/json").status_code == 404


def test_the_page_shows_them_and_takes_one_back(administrator: Client, used):
    page = administrator.get("/credentials/?name=planted").content.decode()
    for word in ("planted", "box.secret", "Revoke a credential", "verify", "used"):
        assert word in page
    assert PLANTED not in page
    assert administrator.post("/credentials/revoke/", {"name": "planted"}).status_code == 422
    administrator.post("/credentials/revoke/", {"name": "planted", "reason": "leaked"})
    assert Credential.objects.get().revoked_at
    assert "Revoke a credential" not in administrator.get("/credentials/").content.decode()


def test_an_open_grant_that_is_over_is_told_from_one_that_is_not(administrator: Client, used):
    secret = Credential.objects.get()
    CredentialGrant.objects.create(
        credential=secret, task=used, call="x", role="find", expires_at=used.created_at, attempt=1
    )
    grants = administrator.get("/api/v1/credentials/planted/grants").json()
    assert [grant["state"] for grant in grants] == ["expired", "used", "used"]


@pytest.mark.parametrize(("role", "reads", "revokes"), [("operator", 403, 403), ("auditor", 200, 403)])
def test_who_may_read_and_who_may_revoke(people: People, client: Client, used, role, reads, revokes):
    Membership.objects.filter(user=people.silas).delete()
    Membership.objects.create(user=people.silas, workspace=people.workspace, role=role)
    client.force_login(people.silas)
    assert client.get("/api/v1/credentials").status_code == reads
    assert client.get("/credentials/").status_code == reads
    answer = client.post("/api/v1/credentials/planted/revoke", {"reason": "x"}, content_type="application/json")
    assert answer.status_code == revokes
    assert client.post("/credentials/revoke/", {"name": "planted", "reason": "x"}).status_code == revokes
    assert Credential.objects.get().revoked_at is None
