"""The page of a task: its tabs, windows of the timeline, one event whole, and what may be done."""

import html
import json
import re

import pytest
from django.test import Client
from django.urls import reverse

from core.access import Role
from core.moments import clock_exact
from tasks_app.models import Blob, Call, Event, LateWrite, Task
from tasks_app.record.append import append
from tasks_app.record.events import (
    After,
    ApprovalDecided,
    ApprovalRequested,
    CallOutcome,
    CallSettled,
    SignalReceived,
    TaskPaused,
)
from tasks_app.status import CallState
from tasks_app.timeline.window import timeline_window
from tests.people import People, person
from tests.records import call_in, kinds, leased, new_task, task_set


def page(client: Client, task: Task, **query: object) -> str:
    answer = client.get(reverse("task", args=[task.pk]), query)
    assert answer.status_code == 200
    return answer.content.decode()


def act(client: Client, task: Task, action: str, **data: object):
    return client.post(reverse("task-act", args=[task.pk, action]), {f"{action}-{k}": v for k, v in data.items()})


def signals(task: Task, count: int) -> None:
    append(stream=task.pk, events=[SignalReceived(name=f"s{n}") for n in range(count)], actor="person:rhea")


@pytest.mark.parametrize("tab", ["timeline", "input", "brief", "record"])
def test_every_tab_is_shown_at_every_stage(client_of, people: People, task: Task, tab: str):
    rhea = client_of(people.rhea)
    assert "Clean the harbour" in page(rhea, task, tab=tab)
    task = leased(task)
    call_in(task, "pay", CallState.IN_DOUBT)
    task = task_set(task, status="in_doubt", lease_holder="", lease_nonce=None, lease_until=None)
    assert "Record what happened" in page(rhea, task, tab=tab)
    assert rhea.get(reverse("task", args=[task.pk]), {"tab": "nonsense"}).status_code == 404


def test_a_window_has_the_newest_events_and_leads_to_the_others(task: Task):
    signals(task, 450)
    newest = timeline_window(task=task, limit=200)
    assert (newest.first, newest.last, newest.is_tail) == (252, 451, True)
    older = timeline_window(task=task, before=newest.first, limit=200)
    assert (older.first, older.last, older.is_tail) == (52, 251, False)
    oldest = timeline_window(task=task, before=older.first, limit=200)
    assert (oldest.first, oldest.last) == (1, 200)
    around = timeline_window(task=task, at=300, limit=100)
    assert around.first <= 300 <= around.last
    later = timeline_window(task=task, after=251, limit=200)
    assert (later.first, later.is_tail) == (252, True)


def test_what_happened_within_a_second_is_told_apart_by_the_clock(client_of, people: People, task: Task):
    signals(task, 3)
    timeline = page(client_of(people.rhea), task).partition('id="timeline"')[2].partition("</ol>")[0]
    for event in Event.objects.filter(stream=task.pk):
        assert f">{clock_exact(event.at)}</time>" in timeline
    assert "data-relative" not in timeline  # the browser would overwrite it


def test_criteria_stand_with_the_values_that_the_intent_gives_them(client_of, people: People):
    asked = [{"check": "note.is_there", "arguments": {"text": "{intent.text}", "lines": 3}}]
    task = new_task(people.workspace, people.rhea, agent="test.note", intent={"text": "quay 4"}, done_when=asked)
    shown = html.unescape(page(client_of(people.rhea), task, tab="input"))
    assert "note.is_there(text='quay 4', lines=3)" in shown
    assert "{intent." not in shown


def test_the_brief_of_an_ended_task_names_no_next_step(client_of, people: People, task: Task):
    rhea = client_of(people.rhea)
    assert "next is step" in page(rhea, task, tab="brief")
    task = task_set(task, status="cancelled", wake_at=None, ended_at=After(0))
    shown = page(rhea, task, tab="brief")
    assert "no worker takes it again" in shown
    assert "next is step" not in shown
    assert "Open calls" not in shown


def test_the_life_of_a_call_stands_in_one_place_from_its_plan_to_its_end(client_of, people: People, task: Task):
    call = call_in(task, "pay", CallState.IN_DOUBT, resource="bank/acme", reference="P-7")
    call_in(task, "mail", CallState.VERIFIED)
    rhea = client_of(people.rhea)
    shown = page(rhea, task, event=call.attempted_seq).partition('class="life')[2].partition("</section>")[0]
    steps = Event.objects.filter(stream=task.pk, data__name="pay").order_by("seq")
    assert re.findall(r'class="seq" href="\?event=(\d+)', shown) == [str(event.seq) for event in steps]
    assert steps.count() == 3
    for said in ("pay", "P-7", "bank/acme", "none was asked for", call.key, "Plans", "needs a person"):
        assert said in shown
    assert "mail" not in shown
    assert 'class="life' not in page(rhea, task, event=1)  # an event of no call


def test_the_life_of_a_call_says_that_its_approval_is_of_exactly_this_call(client_of, people: People, task: Task):
    call = call_in(task, "pay", CallState.ASKED)
    of = {"approval": str(task.pk), "name": "pay", "digest": call.digest}
    asked = ApprovalRequested(**of, group="approvers", line="Pay", policy={})
    task_set(task, asked, ApprovalDecided(**of, decision="approved", by="silas", reason="", via="page"))
    exactly = "given for exactly these arguments"
    assert exactly in page(client_of(people.rhea), task, event=call.intended_seq)
    Call.objects.filter(pk=call.pk).update(digest="e" * 64)
    assert exactly not in page(client_of(people.rhea), task, event=call.intended_seq)


def test_what_cannot_be_undone_is_the_last_of_the_actions(client_of, people: People, task: Task):
    shown = page(client_of(people.rhea), task)
    assert re.findall(r'id="act-(\w+)"', shown)[-1] == "cancel"


def test_the_record_shows_every_event_whole_with_its_author_and_digest(client_of, people: People, task: Task):
    signals(task, 2)
    shown = page(client_of(people.rhea), task, tab="record")
    for event in Event.objects.filter(stream=task.pk):
        row = shown.partition(f"?event={event.seq}#event-{event.seq}")[2].partition("</li>")[0]
        assert f">{clock_exact(event.at)}</time><code>{event.kind}</code><span>" in row
        assert bytes(event.digest).hex() in row
        assert f"<dd>{event.actor}" in row
        data = html.unescape(row.partition('<pre class="value">')[2].partition("</pre>")[0])
        assert json.loads(data) == event.data
    assert 'id="task-facts"' not in shown  # the width belongs to the events


def test_late_writes_stand_where_they_came_in(task: Task):
    signals(task, 3)
    at = Event.objects.get(stream=task.pk, seq=3).at
    LateWrite.objects.create(
        stream=task.pk,
        at=at,
        held_epoch=2,
        presented_epoch=1,
        presented_nonce=task.pk,
        actor="worker:w-1",
        kind="checkpoint.advanced",
        data={"step": 1},
    )
    rows = [row.id for row in timeline_window(task=task).rows]
    late = next(row for row in rows if row.startswith("late-"))
    assert rows.index(late) > rows.index("event-3")


def test_the_next_failure_is_found_and_after_the_last_the_first_again(client_of, people: People, task: Task):
    events = [SignalReceived(name="a"), CallOutcome(name="pay", attempt=1, outcome="unknown"), SignalReceived(name="b")]
    append(stream=task.pk, events=events, actor="worker:w")
    url = reverse("task", args=[task.pk])
    rhea = client_of(people.rhea)
    for start in (0, 3):
        assert rhea.get(url, {"find": "failure", "from": start}).url == f"{url}?event=3#event-3"


def test_one_event_is_shown_whole_with_what_is_kept_apart_and_what_was_altered(client_of, people: People, task: Task):
    result = {"big": "x" * 20_000, "odd": "a\x00b", "text": "<script>alert(1)</script>"}
    append(stream=task.pk, events=[CallOutcome(name="pay", attempt=1, outcome="ok", result=result)], actor="worker:w")
    rhea = client_of(people.rhea)
    shown = page(rhea, task, event=2)
    assert "Altered before it was kept" in shown
    assert "Read the whole" in shown
    assert "<script>alert" not in shown
    for blob in Blob.objects.filter(stream=task.pk):
        answer = rhea.get(reverse("task-blob", args=[task.pk, blob.sha256]))
        assert answer.content == bytes(blob.content)
        assert answer["Content-Disposition"].startswith("attachment")
        assert client_of(people.tobin).get(answer.request["PATH_INFO"]).status_code == 404
    assert rhea.get(reverse("task", args=[task.pk]), {"event": 99}).status_code == 404


def test_a_persons_words_are_never_called_an_agents(client_of, people: People, task: Task):
    call = CallSettled(name="pay", answer="happened", evidence="Statement of today", reference="P-1", by="silas")
    append(stream=task.pk, events=[call], actor="person:silas")
    append(stream=task.pk, events=[TaskPaused(reason="told so")], actor="worker:w")
    append(stream=task.pk, events=[TaskPaused(reason="")], actor="person:silas")
    append(stream=task.pk, events=[TaskPaused(reason="it has run too long")], actor="system")
    rhea = client_of(people.rhea)
    shown = page(rhea, task, event=2)
    assert "Evidence, as silas wrote it" in shown
    assert "agent-supplied" not in shown
    assert shown.count("<dt>By</dt>") == 1
    assert "Reason, agent-supplied" in page(rhea, task, event=3)
    assert "<dt>Reason</dt>" not in page(rhea, task, event=4)
    said = page(rhea, task, event=5)
    assert "it has run too long" in said
    assert "agent-supplied" not in said


def test_actions_do_what_the_services_do_and_say_so(client_of, people: People, task: Task):
    rhea = client_of(people.rhea)
    assert act(rhea, task, "pause", reason="a break").status_code == 303
    assert "rhea</code> paused the task" in page(rhea, task)
    assert act(rhea, task, "resume").status_code == 303
    assert act(rhea, task, "signal", name="go", payload='{"n": 1}', request_key="k1").status_code == 303
    assert act(rhea, task, "signal", name="go", payload='{"n": 1}', request_key="k1").status_code == 303
    assert Event.objects.get(stream=task.pk, kind="signal.received").data["payload"] == {"n": 1}
    copied = act(rhea, task, "copy", request_key="k2")
    assert Task.objects.get(pk=copied.url.split("/")[2]).title == "Copy of Clean the harbour"
    assert act(rhea, task, "cancel", reason="enough").status_code == 303
    assert kinds(task)[-2:] == ["task.cancel_requested", "task.cancelled"]


def test_a_refused_action_shows_the_fresh_page_with_the_refusal_and_what_was_typed(client_of, people, task: Task):
    rhea = client_of(people.rhea)
    act(rhea, task, "cancel", reason="enough")
    refused = act(rhea, task, "pause", reason="my words")
    assert refused.status_code == 409
    assert "cannot be paused; nothing was changed" in refused.content.decode()
    empty = act(rhea, task, "cancel")
    assert empty.status_code == 422
    assert act(rhea, task, "explode").status_code == 404
    assert rhea.get(reverse("task-act", args=[task.pk, "pause"])).status_code == 405


def test_who_may_only_look_is_told_so_and_refused(client_of, people: People, task: Task):
    vera = client_of(person("vera", people.workspace, Role.VIEWER))
    assert "You do not have the right tasks:operate" in page(vera, task)
    refused = act(vera, task, "pause", reason="x")
    assert refused.status_code == 403
    assert kinds(task) == ["task.created"]
    tobin = client_of(people.tobin)
    assert tobin.get(reverse("task", args=[task.pk])).status_code == 404
    assert act(tobin, task, "pause", reason="x").status_code == 404
    assert act(client_of(people.rhea, enforce_csrf_checks=True), task, "pause", reason="x").status_code == 403


def test_an_approval_that_is_asked_for_leads_to_its_card(client_of, people: People, task: Task):
    from tasks_app.record.events import ApprovalRequested

    call_in(task, "pay", CallState.ASKED)
    asked = ApprovalRequested(
        approval=str(task.pk), name="pay", digest="d", group="approvers", line="Pay 1 EUR", policy={}
    )
    task_set(task, asked)
    shown = page(client_of(people.rhea), task)
    assert "Waiting for approval: <q" in shown
    assert reverse("approval", args=[task.pk]) in shown


def test_a_paused_or_unverified_task_says_why(client_of, people: People, task: Task):
    from tasks_app.record.events import TaskUnverified

    missing = [{"criterion": "box.holds", "expected": "full", "seen": "empty"}]
    task_set(task, TaskUnverified(missing=missing), status="unverified", wake_at=None)
    shown = page(client_of(people.rhea), task)
    assert "Says done, check failed: <code>box.holds</code>" in shown
    assert "full" in shown
    assert "empty" in shown


def test_a_due_task_that_nobody_takes_says_so(client_of, people: People, task: Task):
    assert "No worker has taken" not in page(client_of(people.rhea), task)
    task_set(task, wake_at=After(-30))
    assert "No worker has taken" in page(client_of(people.rhea), task)


def test_one_can_go_to_a_time(client_of, people: People, task: Task):
    for number in range(5):
        task_set(task, SignalReceived(name=f"s{number}"))
    rows = list(Event.objects.filter(stream=task.pk).order_by("seq").values_list("seq", "at"))
    rhea, address = client_of(people.rhea), f"/tasks/{task.pk}/"

    def leads(moment: str) -> str:
        return rhea.get(address, {"time": moment})["location"]

    for seq, at in rows:
        assert f"event={seq}#" in leads(f"{at:%Y-%m-%dT%H:%M:%S.%f}")
    assert "event=1#" in leads("2020-01-01T00:00")
    assert f"event={rows[-1][0]}#" in leads("2090-01-01T00:00")
    assert rhea.get(address, {"time": "noon"}).status_code == 404


def test_where_the_time_went_is_said(client_of, people: People, task: Task):
    page = client_of(people.rhea).get(f"/tasks/{task.pk}/").content.decode()
    assert "Time spent" in page
    assert "Queued" in page


def test_how_the_time_of_each_call_went_is_said(client_of, people: People, task: Task):
    call_in(task, "pay", CallState.IN_DOUBT)
    shown = page(client_of(people.rhea), task).partition('id="task-calls"')[2].partition("</ul>")[0]
    assert 'class="split-person"' in shown
    assert "with people" in shown
