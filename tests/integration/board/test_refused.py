"""What somebody typed stays in the form that was refused."""

import re

from django.test import Client
from django.urls import reverse

from core.access import Role
from tasks_app.services.credentials import credential_revoke, credential_set
from tasks_app.sweeper_row import sweeper_seen
from tests.integration.board.test_workers import worker
from tests.people import People, person

REASON = 'an upgrade, "soon"'
TYPED = 'value="an upgrade, &quot;soon&quot;"'


def chosen(shown: str) -> list[str]:
    return re.findall(r'<option value="([^"]+)" selected>', shown)


def test_a_worker_that_is_not_drained_stays_chosen_and_the_reason_stands(client_of, people: People, transactional_db):
    worker("one"), worker("two")
    sweeper_seen()
    rhea = client_of(people.rhea)
    members = rhea.get(reverse("workers")).context["drainable"]
    second = str(members[1].worker.pk)
    assert chosen(rhea.post(reverse("worker-drain"), {"worker": second, "reason": ""}).content.decode()) == [second]
    shown = rhea.post(reverse("worker-drain"), {"worker": "no id", "reason": REASON})
    assert (shown.status_code, TYPED in shown.content.decode()) == (422, True)


def test_a_credential_that_is_not_revoked_stays_chosen_and_the_reason_stands(client_of, people: People):
    for name in ("ledger", "mail", "pager"):
        credential_set(workspace=people.workspace, actor="person:rhea", name=name, value="a value of twenty letters")
    credential_revoke(workspace=people.workspace, actor="person:rhea", name="ledger", reason="old")
    ada: Client = client_of(person("ada", people.workspace, Role.ADMIN))
    address = reverse("credential-revoke")
    shown = ada.post(address, {"name": "pager", "reason": ""})
    assert (shown.status_code, chosen(shown.content.decode())) == (422, ["pager"])
    shown = ada.post(address, {"name": "nobody's", "reason": REASON})
    assert shown.status_code >= 400
    assert TYPED in shown.content.decode()
