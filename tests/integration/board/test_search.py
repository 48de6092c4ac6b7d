"""One question over everything: by title, id, reference, resource, approval and tool; never of another workspace."""

from django.urls import reverse

from core.clock import ClockTimestamp
from tasks_app.models import Call
from tasks_app.status import CallState
from tests.records import call_in, new_task

PAGE = reverse("search")


def test_it_finds_tasks_effects_and_tools_and_a_whole_id_leads_on(client_of, people):
    task = new_task(people.workspace, people.rhea, title="Clean the harbour")
    call_in(task, "pay", CallState.VERIFIED)
    Call.objects.update(reference="INV-4711", attempted_seq=2, first_attempt_at=ClockTimestamp())
    rhea = client_of(people.rhea)
    assert "Clean the harbour" in rhea.get(PAGE, {"q": "HARB"}).content.decode()
    assert "INV-4711" in rhea.get(PAGE, {"q": "4711"}).content.decode()
    found = rhea.get(PAGE, {"q": str(task.pk)})
    assert (found.status_code, found["Location"]) == (302, reverse("task", args=[task.pk]))
    assert "Nothing was found" in rhea.get(PAGE, {"q": "<script>no\x00such"}).content.decode()
    assert rhea.get(PAGE).status_code == 200
    for asked in ("harbour", "4711", str(task.pk)):
        assert "Nothing was found" in client_of(people.tobin).get(PAGE, {"q": asked}).content.decode()
