"""The task list: filters in the address, pages by key, nothing of another workspace."""

import re
from datetime import UTC, datetime

from django.test import Client
from django.urls import reverse

from core.models import Membership
from tasks_app.models import Task
from tasks_app.record.append import append
from tasks_app.record.events import After, SliceReleased, TaskFailed
from tasks_app.selectors import task_rows
from tasks_app.status import CallState
from tests.people import People
from tests.records import call_in, leased, new_task


def test_a_failed_task_says_why_where_it_is_listed(client_of, people: People):
    task = new_task(people.workspace, people.rhea)
    said = "denied: <b>not today</b>"
    failed, over = TaskFailed(cause="agent", reason=said), {"status": "failed", "ended_at": After(0), "wake_at": None}
    append(stream=task.pk, events=[failed], actor="worker:w", task=over)
    shown = client_of(people.rhea).get(reverse("tasks")).content.decode()
    assert "denied: &lt;b&gt;not today&lt;/b&gt;" in shown


def test_a_failed_task_says_why_also_when_its_work_session_closes_after_it(client_of, people: People):
    task = new_task(people.workspace, people.rhea)
    over = {"status": "failed", "ended_at": After(0), "wake_at": None}
    last = [TaskFailed(cause="agent", reason="denied, not today"), SliceReleased(why="finished", worker="w-1")]
    append(stream=task.pk, events=last, actor="worker:w-1", task=over)
    assert "denied, not today" in client_of(people.rhea).get(reverse("tasks")).content.decode()


def titles(client: Client, **query: str) -> list[str]:
    answer = client.get(reverse("tasks"), query)
    assert answer.status_code == 200
    return re.findall(r"data-row-link>([^<]+)</a>", answer.content.decode())


def test_filters_narrow_the_list_and_can_be_combined(client_of, people: People, task: Task):
    leased(new_task(people.workspace, people.silas, title="Paint the boat", labels={"team": "yard"}))
    rhea = client_of(people.rhea)
    assert titles(rhea) == ["Paint the boat", "Clean the harbour"]
    assert titles(rhea, text="boat") == ["Paint the boat"]
    assert titles(rhea, text=task.pk.hex[:12], status="queued") == ["Clean the harbour"]
    assert titles(rhea, status="running") == ["Paint the boat"]
    assert titles(rhea, owner="rhea") == ["Clean the harbour"]
    assert titles(rhea, label="team=quay") == ["Clean the harbour"]
    assert titles(rhea, label="team", agent="test.free") == ["Paint the boat", "Clean the harbour"]
    assert titles(rhea, agent="other") == []
    call_in(task, "pay", CallState.VERIFIED)
    assert titles(rhea, tool="ledger.pay") == ["Clean the harbour"]
    assert titles(rhea, tool="ledger.pay", owner="silas") == []
    Task.objects.filter(pk=task.pk).update(created_at=datetime(2026, 3, 1, 12, tzinfo=UTC))
    assert titles(rhea, until="2026-03-01T12:01") == ["Clean the harbour"]
    assert titles(rhea, since="2026-03-01T12:01") == ["Paint the boat"]
    assert titles(rhea, since="2026-03-01", until="2026-03-01T12:00") == []
    assert "narrows nothing" in rhea.get(reverse("tasks"), {"since": "yesterday"}).content.decode()
    assert rhea.get(reverse("tasks"), {"status": "nonsense"}).status_code == 422


def test_pages_go_by_key_forth_and_back(client_of, people: People, monkeypatch):
    monkeypatch.setattr(task_rows, "ROWS", 2)
    made = [new_task(people.workspace, people.rhea, title=f"T{number}") for number in range(5)]
    rhea = client_of(people.rhea)
    page = rhea.get(reverse("tasks")).context
    assert ([row.title for row in page["rows"]], page["previous_url"]) == (["T4", "T3"], "")
    page = rhea.get(page["next_url"]).context
    assert [row.title for row in page["rows"]] == ["T2", "T1"]
    last = rhea.get(page["next_url"]).context
    assert ([row.title for row in last["rows"]], last["next_url"]) == (["T0"], "")
    assert [row.title for row in rhea.get(last["previous_url"]).context["rows"]] == ["T2", "T1"]
    assert rhea.get(reverse("tasks"), {"before": "no id"}).status_code == 404
    assert len(made) == 5


def test_nobody_sees_another_workspaces_tasks(client_of, people: People, task: Task):
    tobin = client_of(people.tobin)
    assert titles(tobin) == []
    assert tobin.get(reverse("tasks"), {"workspace": "harbour"}).status_code == 404
    assert Client().get(reverse("tasks")).status_code == 302
    Membership.objects.create(user=people.tobin, workspace=people.workspace, role="viewer")
    assert titles(tobin, workspace="harbour") == ["Clean the harbour"]


def test_what_is_invisible_in_a_title_is_shown(client_of, people: People):
    new_task(people.workspace, people.rhea, title="safe\u202egpj.exe<b>")
    page = client_of(people.rhea).get(reverse("tasks")).content.decode()
    assert '<span class="escape">\\u202e</span>' in page
    assert "<b>" not in page
