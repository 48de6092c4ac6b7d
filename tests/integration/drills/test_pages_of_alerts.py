"""The alert of a drill that found a violation: who sees it, who ends it."""

import pytest

import tests.agents  # noqa: F401
from chaos_app.models import DrillAlert
from core.access import Role
from tasks_app.models import Event
from tests.integration.drills.conftest import client_of, page
from tests.people import person

pytestmark = pytest.mark.django_db


def test_an_alert_stays_until_somebody_has_seen_it(run, people):
    client = client_of(people.rhea)
    client.post(f"/drills/{run.pk}/seen/")
    assert DrillAlert.objects.get().seen_by == people.rhea
    assert "Look at the run" not in page(client, "/drills/")


def test_who_only_reads_sees_an_alert_and_cannot_end_it_for_the_others(run, people):
    viewer = client_of(person("vera", people.workspace, Role.VIEWER, Role.APPROVER, Role.AUDITOR))
    html = page(viewer, f"/drills/{run.pk}/")
    assert ("E04.twice" in html, "I have seen this" in html) == (True, False)
    assert viewer.post(f"/drills/{run.pk}/seen/").status_code == 403
    assert DrillAlert.objects.get().seen_at is None
    seen = Event.objects.filter(stream=people.workspace.pk, kind="drill.alert_seen")
    assert not seen.exists()


def test_who_ends_an_alert_of_a_drill_is_in_the_trail_once(run, people):
    operator = client_of(people.silas)
    assert "I have seen this" in page(operator, f"/drills/{run.pk}/")
    for _ in range(2):
        operator.post(f"/drills/{run.pk}/seen/")
    said = Event.objects.get(stream=people.workspace.pk, kind="drill.alert_seen")
    assert (said.actor, said.data) == ("person:silas", {"run": str(run.pk), "suite": "core"})
    assert (DrillAlert.objects.get().seen_by, DrillAlert.objects.get().seen_at is None) == (people.silas, False)
