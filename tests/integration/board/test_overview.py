"""The overview: what needs somebody comes first, and nothing of another workspace."""

import json
from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from approvals_app.models import ApprovalRequest
from approvals_app.status import Via
from chaos_app.models import DrillRun
from core.board.live import OverviewFeed
from core.clock import database_now
from core.models import Membership
from core.principal import Principal
from tasks_app.models import Task, Worker
from tasks_app.services.stops import stop_set
from tasks_app.status import CallState
from tasks_app.sweeper_row import sweeper_seen
from tests.people import People, principal_of
from tests.records import call_in, new_task, task_set


def shown(client, **query: str) -> str:
    answer = client.get(reverse("overview"), query)
    assert answer.status_code == 200
    return answer.content.decode()


def notices(client) -> list[str]:
    return [one.name for one in client.get(reverse("overview")).context["notices"]]


def worker_alive(name: str = "w-1@host", pool: str = "prefork") -> Worker:
    now = database_now()
    return Worker.objects.create(name=name, host="host", pid=1, pool=pool, started_at=now, seen_at=now)


def test_all_zero_reads_nothing_needs_you(client_of, people: People, transactional_db):
    worker_alive()
    sweeper_seen()
    page = shown(client_of(people.rhea))
    assert "Nothing needs you." in page
    assert "No task ended in the last 24 hours." in page
    assert "Nothing waited for a person in the last 24 hours." in page


def test_without_worker_and_sweeper_it_says_so(client_of, people: People, transactional_db):
    assert notices(client_of(people.rhea)) == ["workers", "sweeper"]
    worker_alive()
    Worker.objects.update(seen_at=database_now() - timedelta(minutes=1))
    assert notices(client_of(people.rhea)) == ["workers", "sweeper"]


def test_what_is_in_doubt_stopped_unverified_failed_due_or_held_is_told(client_of, people: People, task: Task):
    worker_alive()
    sweeper_seen()
    call_in(task, "pay", CallState.IN_DOUBT)
    task_set(task, status="in_doubt", wake_at=None)
    one, two, three, four = (new_task(people.workspace, people.rhea, title=f"T{n}") for n in range(4))
    task_set(one, status="quarantined", wake_at=None)
    task_set(two, status="unverified", wake_at=None)
    task_set(three, status="failed", wake_at=None, ended_at=_after(0))
    task_set(four, wake_at=_after(-60))
    stop_set(
        workspace=people.workspace, scope="workspace", name="", reason="a storm", user=people.rhea, actor="person:rhea"
    )
    assert notices(client_of(people.rhea)) == ["doubts", "stopped", "unverified", "failed", "due", "stops"]
    assert notices(client_of(people.tobin)) == []  # in another workspace all is well
    page = shown(client_of(people.rhea))
    assert "0 completed, 1 failed or cancelled in 24 hours." in page
    assert "a storm" in page


def test_an_invitation_is_made_to_who_can_follow_it(client_of, people: People, settings, transactional_db):
    settings.HANDRAIL_DEMO = True
    engineer, operator = shown(client_of(people.rhea)), shown(client_of(people.silas))
    for words in ("Play the first five minutes", ">Launch one</a>"):
        assert words in engineer
        assert words not in operator
    assert "An engineer can launch one" in operator


def test_what_a_standing_grant_answered_waited_for_nobody(client_of, people: People, task: Task):
    asked, granted = request_in(task, "asked", minutes=6), request_in(task, "granted", minutes=0)
    ApprovalRequest.objects.filter(pk=asked.pk).update(decided_via=Via.PAGE)
    ApprovalRequest.objects.filter(pk=granted.pk).update(decided_via=Via.GRANT)
    assert "1 call waited for a person in 24 hours: 6 min" in shown(client_of(people.rhea))


def request_in(task: Task, name: str, *, minutes: int) -> ApprovalRequest:
    now = database_now()
    fixed = {"tool": "note.write", "contract_version": 1, "schema_digest": "s", "digest": "d", "same_call": "s"}
    fixed |= {"risk": "low", "group": "approvers", "policy": {}, "run_within": 3600.0}
    made = {"requested_at": now - timedelta(minutes=minutes), "decided_at": now, "decided_by": task.owner}
    made |= {"run_by": now, "status": "approved", "decision": "approved"}
    return ApprovalRequest.objects.create(workspace=task.workspace, task=task, name=name, line=name, **fixed, **made)


def _after(seconds: float):
    from tasks_app.record.events import After

    return After(seconds)


def drill_over(people: People, **said: object) -> DrillRun:
    given = {"suite": "core", "seed": 7, "state": "ended", "exit_code": 0, "launched_at": database_now(), **said}
    return DrillRun.objects.create(workspace=people.workspace, **given)


def test_the_last_verdict_of_the_drills_is_told_and_asks_for_nobody_where_all_was_as_allowed(
    client_of, people: People, transactional_db
):
    worker_alive()
    sweeper_seen()
    rhea = client_of(people.rhea)
    assert "Last drill:" not in shown(rhea)
    drill_over(people, summary="Every fault is safe.")
    drill_over(people, suite="guided", exit_code=None)
    drill_over(people, state="running", exit_code=None)
    assert ("Last drill:" in shown(rhea), "Every fault is safe." in shown(rhea), notices(rhea)) == (True, True, [])
    assert "Nothing needs you." in shown(rhea)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ({"exit_code": 2}, "last drill says nothing for sure"),
        ({"exit_code": 1}, "last drill found a violation"),
        ({"exit_code": 2, "state": "stopped"}, "last drill was stopped"),
        ({"exit_code": None, "state": "failed"}, "last drill could not run"),
    ],
)
def test_a_last_drill_that_is_no_pass_needs_somebody_until_another_one_is(
    client_of, people: People, transactional_db, said: dict[str, object], text: str
):
    worker_alive()
    sweeper_seen()
    rhea = client_of(people.rhea)
    last = drill_over(people, **said)
    (notice,) = rhea.get(reverse("overview")).context["notices"]
    assert (notice.name, notice.text, notice.url) == ("drills", text, reverse("drill-run", args=[last.pk]))
    drill_over(people)
    assert notices(rhea) == []


def test_a_person_without_a_workspace_is_told_how_to_come_by_one(client_of, transactional_db):
    page = client_of(User.objects.create_user("una")).get(reverse("overview"))
    assert "You belong to no workspace yet" in page.content.decode()


def test_who_may_not_read_tasks_is_refused(client_of, people: People, transactional_db):
    Membership.objects.filter(user=people.rhea).delete()
    assert "You belong to no workspace" in client_of(people.rhea).get(reverse("overview")).content.decode()
    assert client_of(people.tobin).get(reverse("overview"), {"workspace": "harbour"}).status_code == 404


def test_hostile_text_is_inert_in_every_part(client_of, people: People, transactional_db):
    evil = "<script>alert(1)</script>\u202eabc"
    worker_alive(name=evil)
    task = new_task(people.workspace, people.rhea, title=evil)
    task_set(task, status="running", lease_holder=evil, lease_nonce=str(uuid4()), lease_until=_after(30), wake_at=None)
    stop_set(workspace=people.workspace, scope="tool", name=evil, reason=evil, user=people.rhea, actor="person:rhea")
    page = shown(client_of(people.rhea))
    assert "<script>alert" not in page
    assert "\u202e" not in page
    assert page.count("\\u202e") >= 3


def test_the_socket_sends_parts_and_not_more_often_than_every_two_seconds(people: People, task: Task):
    def who() -> Principal:
        return principal_of(people.rhea, people.workspace)

    assert OverviewFeed(who=who).every == 2.0
    feed = OverviewFeed(who=who, every=60.0)  # so long that no machine takes longer between two readings
    html = "".join(message["html"] for message in feed.read().messages)
    for part in ("attention", "task-counts", "board-oldest", "board-decisions", "board-workers"):
        assert f'id="{part}"' in html
    task_set(task, status="failed", wake_at=None, ended_at=_after(0))
    swallowed = feed.read()
    assert swallowed.messages == []
    assert swallowed.again is not None
    assert 0 < swallowed.again <= feed.every  # the socket comes back by then
    feed.forget()  # the page resumes
    assert 'id="board-oldest"' in "".join(message["html"] for message in feed.read().messages)


def test_the_poll_answers_what_the_socket_would(client_of, people: People, transactional_db):
    answer = json.loads(client_of(people.rhea).get(reverse("overview-live")).content)
    assert answer["head"] == 0
    assert 'hx-swap-oob="true"' in answer["html"]


@pytest.mark.parametrize("name", ["overview", "effects", "tools", "workers"])
def test_every_page_needs_a_sign_in(client, name: str, db):
    assert client.get(reverse(name)).status_code == 302
