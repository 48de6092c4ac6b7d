"""One question over everything: by title, id, reference, resource, approval and tool; never of another workspace."""

import re

from django.urls import reverse

from core.access import Role
from core.clock import ClockTimestamp
from core.models import Membership
from tasks_app.models import Call
from tasks_app.status import CallState
from tests.desk import CLEAN
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


def test_who_has_two_workspaces_searches_in_either_and_a_whole_id_leads_on_from_any(client_of, people):
    task = new_task(people.workspace, people.rhea, title="Clean the harbour")
    call_in(task, "pay", CallState.VERIFIED)
    Membership.objects.create(user=people.rhea, workspace=people.elsewhere, role=Role.VIEWER)  # the first of hers, now
    rhea = client_of(people.rhea)
    shown = rhea.get(PAGE, {"q": "harbour"}).content.decode()
    assert "Nothing was found" in shown
    assert '<option value="harbour">' in shown
    assert rhea.get(PAGE, {"q": str(task.pk)})["Location"] == reverse("task", args=[task.pk])
    shown = rhea.get(PAGE, {"q": "harbour", "workspace": "harbour"}).content.decode()
    assert "Clean the harbour" in shown
    here = '<input type="hidden" name="workspace" value="harbour">'
    for page in (reverse("effects"), reverse("tasks"), PAGE):  # the field in their bar stays there
        assert here in _bar(rhea.get(page, {"workspace": "harbour"}))
    assert here in _bar(rhea.get(reverse("task", args=[task.pk])))
    # Its key is hidden while the field right before it has text.
    assert re.search(r"data-search>\s*<kbd", _bar(rhea.get(PAGE)))
    assert 'name="workspace"' not in _bar(client_of(people.silas).get(PAGE))


def test_what_a_search_found_leads_on_in_the_same_workspace(client_of, people, monkeypatch):
    monkeypatch.setattr("core.board.search.MOST", 1)
    monkeypatch.setattr("core.board.views.search.MOST", 1)
    new_task(people.workspace, people.rhea, title="ledger of the harbour")
    Membership.objects.create(user=people.rhea, workspace=people.elsewhere, role=Role.VIEWER)
    shown = client_of(people.rhea).get(PAGE, {"q": "ledger", "workspace": "harbour"}).content.decode()
    assert f'href="{reverse("tasks")}?text=ledger&amp;workspace=harbour"' in shown
    tool = CLEAN.name
    shown = client_of(people.rhea).get(PAGE, {"q": tool, "workspace": "harbour"}).content.decode()
    assert f'href="{reverse("tool", args=[tool])}?workspace=harbour"' in shown


def _bar(answer) -> str:
    return answer.content.decode().partition('<header class="bar">')[2].partition("</header>")[0]
