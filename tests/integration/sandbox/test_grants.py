"""A grant hands its value over once, and to nobody once its credential was revoked, whoever is faster."""

import threading

import pytest
from django.db import connection, transaction

from tasks_app.contracts import Refused
from tasks_app.credentials.granting import Granted, Purpose, grants_make
from tasks_app.models import Credential, CredentialGrant, Event
from tasks_app.services import credentials
from tasks_app.services.credentials import credential_revoke, credential_set, grants_expire, revocations_say
from tests.integration.sandbox.test_credentials import PLANTED, begin
from tests.locks import lock_is_awaited
from tests.people import People
from tests.processes import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def secret(people: People) -> Credential:
    return credential_set(workspace=people.workspace, name="planted", value=PLANTED, actor="person:rhea")


def issued(people: People, secret: Credential, seconds: float = 10.0) -> Granted:
    task = begin(people, "secret_length")
    purpose = Purpose(workspace=people.workspace.pk, task=task.pk, call="box", role="execute", attempt=1)
    granted, _ = grants_make(["planted"], purpose, seconds=seconds)
    return granted


def test_a_grant_hands_its_value_over_once(people: People, secret: Credential):
    granted = issued(people, secret)
    assert granted.take() == {"planted": PLANTED}
    with pytest.raises(Refused, match="nothing was handed over"):
        granted.take()


def test_what_was_revoked_between_issuing_and_handing_over_is_not_handed_over(people: People, secret: Credential):
    granted = issued(people, secret)
    credential_revoke(workspace=people.workspace, name="planted", reason="leaked", actor="person:rhea")
    with pytest.raises(Refused, match="nothing was handed over"):
        granted.take()
    # Also where the grant itself was missed: it was issued a moment later, by who had read before.
    CredentialGrant.objects.update(revoked_at=None)
    with pytest.raises(Refused, match="nothing was handed over"):
        granted.take()


def test_a_grant_that_was_taken_back_stays_so_when_its_credential_is_set_anew(people: People, secret: Credential):
    granted = issued(people, secret)
    credential_revoke(workspace=people.workspace, name="planted", reason="leaked", actor="person:rhea")
    credential_set(workspace=people.workspace, name="planted", value=PLANTED, actor="person:rhea")
    with pytest.raises(Refused, match="nothing was handed over"):
        granted.take()


def test_a_grant_whose_time_is_over_hands_nothing_over(people: People, secret: Credential):
    granted = issued(people, secret, seconds=-10.0)
    with pytest.raises(Refused, match="nothing was handed over"):
        granted.take()


def test_a_hand_over_that_waits_for_a_revocation_is_refused_once_it_is_committed(people: People, secret: Credential):
    granted, came = issued(people, secret), []

    def take() -> None:
        try:
            came.append(granted.take())
        except Refused as refusal:
            came.append(refusal.code)
        finally:
            connection.close()

    taking = threading.Thread(target=take, daemon=True)
    try:
        with transaction.atomic():
            credential_revoke(workspace=people.workspace, name="planted", reason="leaked", actor="person:rhea")
            taking.start()
            wait_for(lock_is_awaited, what="the hand-over to wait for the grant's row")
    finally:
        taking.join(30)
    assert came == ["credential-revoked"]
    assert CredentialGrant.objects.get().used_at is None
    assert granted.events == []


def test_of_several_grants_of_which_one_is_over_none_is_used(people: People, secret: Credential):
    credential_set(workspace=people.workspace, name="other", value=PLANTED[::-1], actor="person:rhea")
    task = begin(people, "secret_length")
    purpose = Purpose(workspace=people.workspace.pk, task=task.pk, call="box", role="execute", attempt=1)
    granted, _ = grants_make(["planted", "other"], purpose, seconds=10.0)
    credential_revoke(workspace=people.workspace, name="other", reason="leaked", actor="person:rhea")
    with pytest.raises(Refused, match="nothing was handed over"):
        granted.take()
    assert not CredentialGrant.objects.exclude(used_at=None).exists()


class Died(BaseException):
    """The process ended here."""


def dies(*_: object, **__: object) -> None:
    raise Died


def said(kind: str) -> list[str]:
    return [event.data["grant"] for event in Event.objects.filter(kind=kind).order_by("pk")]


def test_whoever_dies_as_a_grant_expires_leaves_it_to_the_next_look(people: People, secret: Credential, monkeypatch):
    granted = issued(people, secret, seconds=-10.0)
    with monkeypatch.context() as patch:
        patch.setattr(credentials.Command, "record", dies)
        with pytest.raises(Died):
            grants_expire()
    assert [grants_expire(), grants_expire()] == [1, 0]
    assert said("credential.expired") == [str(granted.grants[0].pk)]


def test_whoever_dies_within_a_revocation_leaves_it_to_a_sweeper_to_tell_the_tasks(
    people: People, secret: Credential, monkeypatch
):
    told, untold = issued(people, secret), issued(people, secret)
    real, calls = credentials.Command.record, []

    def once(self, *given, **more):
        calls.append(given)
        return real(self, *given, **more) if len(calls) == 1 else dies()

    with monkeypatch.context() as patch:
        patch.setattr(credentials.Command, "record", once)
        with pytest.raises(Died):
            credential_revoke(workspace=people.workspace, name="planted", reason="leaked", actor="person:rhea")
    assert len(said("credential.revoked")) == 1
    assert [revocations_say(), revocations_say()] == [1, 0]
    assert sorted(said("credential.revoked")) == sorted(str(one.grants[0].pk) for one in (told, untold))
    assert not told.holds()
    assert not untold.holds()
