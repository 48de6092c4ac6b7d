"""Credentials: sealed, granted once for one call, revoked within a second, and nowhere to be found."""

import json
import logging
import threading
import time
from collections.abc import Iterator
from io import StringIO

import pytest
from cryptography.fernet import Fernet
from django.core.management import call_command
from django.db import connection
from django.test import Client

from core.clock import database_now
from core.errors import InvalidInput
from tasks_app.credentials import keys, known
from tasks_app.models import Blob, Call, Credential, CredentialGrant, Event, LateWrite, Task
from tasks_app.record import stored
from tasks_app.record.events import CallOutcome
from tasks_app.record.export import export_lines, stream_head
from tasks_app.services.create import task_create
from tasks_app.services.credentials import (
    credential_revoke,
    credential_set,
    credentials_reseal,
    grants_expire,
)
from tasks_app.testing import task_run, worker_here
from tests.people import People
from tests.processes import wait_for

pytestmark = pytest.mark.django_db(transaction=True)
PLANTED = "pl4nted-Secret/value+9f7"


@pytest.fixture
def secret(people: People) -> Credential:
    return credential_set(workspace=people.workspace, name="planted", value=PLANTED, actor="person:rhea")


def begin(people: People, what: str, tool: str = "box.secret", word: str = "planted", **more) -> Task:
    arguments = {"what": what, "word": word, **more}
    return task_create(
        workspace=people.workspace,
        owner=people.rhea,
        actor="person:rhea",
        agent="box.run",
        intent={"tool": tool, "arguments": arguments},
    )


def run(people: People, what: str, **more) -> Task:
    return task_run(begin(people, what, **more).pk, worker_here(), most=3)


def events(task: Task, kind: str) -> list[dict]:
    return list(Event.objects.filter(stream=task.pk, kind=kind).order_by("seq").values_list("data", flat=True))


def order(task: Task) -> list[str]:
    return list(Event.objects.filter(stream=task.pk).order_by("seq").values_list("kind", flat=True))


def test_a_call_is_granted_what_its_contract_names_once(people: People, secret: Credential):
    task = run(people, "secret_length")
    (outcome,) = events(task, "call.outcome")
    assert outcome["result"] == len(PLANTED)
    issued, used = events(task, "credential.issued"), events(task, "credential.used")
    assert [one["role"] for one in issued] == ["execute", "verify"]
    assert [one["grant"] for one in issued] == [one["grant"] for one in used]
    said = order(task)
    assert said.index("call.attempted") < said.index("credential.issued") < said.index("credential.used")
    assert said.index("credential.used") < said.index("call.outcome")
    assert CredentialGrant.objects.filter(used_at=None).count() == 0


def test_a_call_without_it_in_its_contract_gets_nothing(people: People, secret: Credential):
    task = run(people, "secret_search", tool="box.keyed")
    (outcome,) = events(task, "call.outcome")
    assert outcome["result"][-1] == "not granted"
    assert PLANTED not in json.dumps(outcome)


def test_a_missing_or_revoked_credential_refuses_before_anything_is_sent(people: People):
    task = run(people, "secret_length")
    (outcome,) = events(task, "call.outcome")
    assert (outcome["outcome"], outcome["error"]["code"]) == ("refused", "credential-missing")


@pytest.mark.parametrize(
    "what", ["secret_leak", "secret_error", "secret_die", "secret_cut", "secret_cut_die", "secret_reference"]
)
def test_a_planted_secret_is_found_nowhere(people: People, secret: Credential, what, caplog, client: Client):
    with caplog.at_level(logging.DEBUG):
        task = run(people, what)
    pages = [f"/tasks/{task.pk}/", f"/tasks/{task.pk}/?tab=record", "/tasks/"]
    client.force_login(people.rhea)
    places = {
        "record": "\n".join(export_lines(stream_head(task.pk))),
        "rows": json.dumps(list(Call.objects.filter(task=task).values()), default=str),
        "blobs": " ".join(bytes(one.content).decode("latin-1") for one in Blob.objects.filter(stream=task.pk)),
        "late": json.dumps(list(LateWrite.objects.values()), default=str),
        "logs": caplog.text,
        "pages": " ".join(client.get(page).content.decode() for page in pages),
        "administration": json.dumps(list(Event.objects.values_list("data", flat=True)), default=str),
        "sealed": bytes(Credential.objects.get().sealed).decode("latin-1"),
        "messages": str(Task.objects.filter(pk=task.pk).values()),
    }
    # Where a text was cut, in the middle of a mark, it is told by what stood around it.
    assert {"secret_cut": "x" * 1900, "secret_cut_die": "y" * 1900}.get(what, "masked:known") in places["record"]
    for name, text in places.items():
        assert PLANTED not in text, name
        assert PLANTED[:9] not in text, name  # nor a part that was left where a text was cut
        assert PLANTED[-9:] not in text, name
        assert "cGw0bnRlZC1TZWNyZXQvdmFsdWUrOWY3" not in text, name


def test_revocation_takes_open_grants_back_and_ends_what_holds_one(people: People, secret: Credential):
    task = begin(people, "secret_hold")
    worker = worker_here()
    running = threading.Thread(target=_in_thread, args=(task, worker), daemon=True)
    running.start()
    try:
        wait_for(CredentialGrant.objects.filter(used_at__isnull=False).exists, what="a grant that is used")
        began = time.monotonic()
        assert credential_revoke(workspace=people.workspace, name="planted", reason="leaked", actor="person:rhea") == 1
    finally:
        running.join(10)  # also after a failure: what it has locked, the flush of the database would wait for
    assert not running.is_alive()
    assert time.monotonic() - began < 8.0  # the sandbox itself ends within two looks, 0.4 s; the rest is this test's
    (outcome,) = events(task, "call.outcome")[:1]
    assert outcome["sandbox"]["ended"] == "credential revoked"
    assert outcome["error"]["code"] == "credential-revoked"
    assert events(task, "credential.revoked")


def _in_thread(task: Task, worker) -> None:
    try:
        task_run(task.pk, worker, most=1)
    finally:
        connection.close()


def test_a_grant_that_was_never_used_expires_once(people: People, secret: Credential):
    task = run(people, "answer", tool="box.keyed", word="x")
    grant = CredentialGrant.objects.create(
        credential=secret, task=task, call="box", role="execute", expires_at=task.created_at
    )
    assert grants_expire() == 1
    assert grants_expire() == 0
    (expired,) = events(task, "credential.expired")
    assert expired["grant"] == str(grant.pk)


def test_values_are_sealed_and_keys_can_be_changed_in_turn(people: People, settings):
    old, new = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    settings.HANDRAIL_CREDENTIAL_KEYS = [old]
    credential_set(workspace=people.workspace, name="planted", value=PLANTED, actor="person:rhea")
    before = bytes(Credential.objects.get().sealed)
    assert PLANTED.encode() not in before
    settings.HANDRAIL_CREDENTIAL_KEYS = [new, old]
    assert keys.unseal(before) == PLANTED
    assert credentials_reseal() == 1
    settings.HANDRAIL_CREDENTIAL_KEYS = [new]
    assert keys.unseal(bytes(Credential.objects.get().sealed)) == PLANTED
    with pytest.raises(keys.CannotOpen):
        keys.unseal(before)


@pytest.fixture
def ignorant(monkeypatch) -> Iterator[None]:
    """A process that knows no secret yet."""
    with monkeypatch.context() as patched:
        patched.setattr(stored, "_asked", [])
        patched.setattr(stored, "_learned", set())
        stored.masker.cache_clear()
        yield
    stored.masker.cache_clear()


@pytest.mark.usefixtures("ignorant")
def test_a_running_process_masks_a_value_from_when_it_was_set_elsewhere(people: People):
    """As a worker's process does; the value is set by another process, and nobody has granted it to this one."""
    known.credentials_follow()
    other = "another-Planted/secret-4711"
    said = CallOutcome(name="c", attempt=1, outcome="ok", result={"read": f"it is {other}"})
    assert other in json.dumps(stored.event_prepare(said).data)
    known._looked = 0.0
    Credential.objects.create(workspace=people.workspace, name="new", sealed=keys.seal(other))
    again = CallOutcome(name="c", attempt=1, outcome="ok", result={"read": f"it is {other}"})
    assert other not in json.dumps(stored.event_prepare(again).data)


@pytest.mark.usefixtures("ignorant")
def test_a_process_that_began_after_a_revocation_masks_the_value_still(people: People, monkeypatch):
    """Taken back here, it may still be good where it is from."""
    monkeypatch.setattr(known, "_newest", None)
    sealed = keys.seal("taken-Back/secret-4711")
    Credential.objects.create(workspace=people.workspace, name="old", sealed=sealed, revoked_at=database_now())
    known.credentials_learn()
    said = CallOutcome(name="c", attempt=1, outcome="ok", result={"read": "it is taken-Back/secret-4711"})
    assert "taken-Back" not in json.dumps(stored.event_prepare(said).data)


@pytest.mark.usefixtures("ignorant")
def test_a_process_that_began_after_a_value_was_replaced_masks_the_old_one_still(people: People, settings, monkeypatch):
    values = [f"replaced-Secret/value-{number}" for number in range(3)]
    settings.HANDRAIL_CREDENTIAL_KEYS = [old] = [Fernet.generate_key().decode()]
    for value in [*values, values[0], values[2]]:
        credential_set(workspace=people.workspace, name="planted", value=value, actor="person:rhea")
    settings.HANDRAIL_CREDENTIAL_KEYS = [Fernet.generate_key().decode(), old]
    assert credentials_reseal() == 1
    settings.HANDRAIL_CREDENTIAL_KEYS.remove(old)
    sealed = bytes(Credential.objects.get().sealed)
    assert [keys.unseal(sealed), *keys.formers(sealed)] == [values[2], values[0], values[1]]
    stored._learned.clear()
    stored.masker.cache_clear()
    monkeypatch.setattr(known, "_newest", None)
    known.credentials_learn()
    said = CallOutcome(name="c", attempt=1, outcome="ok", result={"read": f"it is {values}"})
    assert "replaced-Secret" not in json.dumps(stored.event_prepare(said).data)


def test_of_former_values_the_last_ones_are_kept(people: People):
    for number in range(keys.FORMER + 3):
        value = f"replaced-Secret/value-{number}"
        credential_set(workspace=people.workspace, name="planted", value=value, actor="person:rhea")
    kept = keys.formers(bytes(Credential.objects.get().sealed))
    assert len(kept) == keys.FORMER
    assert kept[0] == f"replaced-Secret/value-{keys.FORMER + 1}"


def test_a_value_is_handed_to_nobody_before_every_process_has_had_time_to_learn_it(people: People, secret: Credential):
    run(people, "secret_length")
    used = CredentialGrant.objects.earliest("used_at").used_at
    assert used - Credential.objects.get().changed_at >= known.RIPE


def test_a_value_too_short_to_be_masked_is_refused(people: People):
    with pytest.raises(InvalidInput, match="masked"):
        credential_set(workspace=people.workspace, name="planted", value="short", actor="person:rhea")


def test_the_command_shows_names_and_never_values(people: People, monkeypatch):
    monkeypatch.setattr("sys.stdin", StringIO(f"{PLANTED}\n"))
    out = StringIO()
    call_command("credential", "set", "planted", workspace=people.workspace.slug, stdout=out)
    call_command("credential", "list", workspace=people.workspace.slug, stdout=out)
    call_command("credential", "revoke", "planted", workspace=people.workspace.slug, stdout=out)
    call_command("credential", "list", workspace=people.workspace.slug, stdout=out)
    assert "planted  set" in out.getvalue()
    assert "planted  revoked" in out.getvalue()
    assert PLANTED not in out.getvalue()
    said = list(Event.objects.filter(kind="credential.changed").values_list("data", flat=True))
    assert [one["what"] for one in said] == ["planted", "planted"]
