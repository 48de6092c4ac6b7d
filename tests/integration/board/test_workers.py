"""Workers: problems first, what each holds, and draining a real one."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.urls import reverse

from core.access import Role
from core.board import drain
from core.clock import database_now
from tasks_app.models import Event, Task, Worker
from tasks_app.record.events import After
from tasks_app.sweeper_row import sweeper_seen
from tests.crew import Crew
from tests.people import People, person
from tests.processes import wait_for
from tests.records import new_task, task_set

EVIL = "<script>alert(1)</script>\u202e"


def worker(name: str, *, ago: float = 0.0, **more) -> Worker:
    now = database_now()
    row = {"host": "h", "pid": 7, "pool": "prefork", "started_at": now, "seen_at": now - timedelta(seconds=ago)}
    return Worker.objects.create(name=name, **(row | more))


def holds(task: Task, name: str) -> None:
    lease = {"lease_holder": name, "lease_epoch": 3, "lease_nonce": str(uuid4()), "lease_until": After(30)}
    task_set(task, status="running", wake_at=None, **lease)


def states(client) -> list[tuple[str, str]]:
    return [(one.worker.name, one.state) for one in client.get(reverse("workers")).context["members"]]


def test_problems_come_first(client_of, people: People, task: Task):
    worker("alive")
    worker("drains", draining=True)
    worker("gone", ago=60)
    worker("dead", ago=60)
    worker("alive", ago=300)  # earlier starts of the one that lives: killed, and asked to end
    worker("alive", ago=500, draining=True)
    worker("long-ago", ago=3 * 86_400)
    holds(task, "dead")
    expected = [
        ("dead", "holding"),
        ("gone", "gone"),
        ("drains", "draining"),
        ("alive", "alive"),
        ("alive", "died"),
        ("alive", "replaced"),
    ]
    assert states(client_of(people.rhea)) == expected
    page = client_of(people.rhea).get(reverse("workers")).content.decode()
    assert "Clean the harbour" in page
    assert "lease no. 3" in page
    assert "No sweeper lives." in page


def test_leases_of_other_workspaces_are_counted_and_not_named(client_of, people: People, task: Task):
    worker("w")
    holds(task, "w")
    page = client_of(people.tobin).get(reverse("workers")).content.decode()
    assert "Clean the harbour" not in page
    assert "1 of other workspaces" in page


def test_a_version_that_nobody_carries_is_said(client_of, people: People, task: Task):
    worker("w", carries={"agents": {"test.free": [2]}, "tools": {}})
    task_set(task, status="waiting", wait={"kind": "worker_version"}, wake_at=None)
    assert "Tasks of test.free version 1 wait" in client_of(people.rhea).get(reverse("workers")).content.decode()


def test_hostile_names_are_inert(client_of, people: People, transactional_db):
    holds(new_task(people.workspace, people.rhea, title=EVIL), EVIL)
    worker(EVIL, host=EVIL, carries={"agents": {EVIL: [1]}, "tools": {}})
    page = client_of(people.rhea).get(reverse("workers")).content.decode()
    assert "<script>alert" not in page
    assert "\u202e" not in page


@pytest.mark.parametrize(("role", "status"), [(Role.VIEWER, 403), (Role.AUDITOR, 403), (Role.OPERATOR, 409)])
def test_only_who_operates_may_drain(client_of, people: People, transactional_db, role: Role, status: int):
    gone = worker("gone", ago=60)
    someone = client_of(person("una", people.workspace, role))
    answer = someone.post(reverse("worker-drain"), {"worker": gone.pk, "reason": "old"})
    assert answer.status_code == status
    assert not Event.objects.filter(kind="worker.drain_asked").exists()


def test_a_reason_is_needed_and_a_sweeper_is_not_drained(client_of, people: People, transactional_db):
    sweeper_seen()
    rhea, sweeper = client_of(people.rhea), Worker.objects.get()
    assert rhea.post(reverse("worker-drain"), {"worker": sweeper.pk}).status_code == 422
    answer = rhea.post(reverse("worker-drain"), {"worker": sweeper.pk, "reason": "x"})
    assert answer.status_code == 409
    assert "A sweeper holds no task" in answer.content.decode()


def test_who_drains_a_worker_is_said_in_every_workspace_for_it_serves_them_all(client_of, people, monkeypatch):
    monkeypatch.setattr(drain, "_tell", lambda *told: None)
    row = worker("shared")
    answer = client_of(people.rhea).post(reverse("worker-drain"), {"worker": row.pk, "reason": "an upgrade"})
    assert answer.status_code == 303
    said = Event.objects.filter(kind="worker.drain_asked", actor="person:rhea")
    assert set(said.values_list("stream", flat=True)) == {people.workspace.pk, people.elsewhere.pk}


def test_who_asked_is_in_the_record_before_the_worker_is_told(client_of, people, monkeypatch):
    before = []
    monkeypatch.setattr(
        drain, "_tell", lambda *told: before.append(Event.objects.filter(kind="worker.drain_asked").count())
    )
    row = worker("shared")
    assert client_of(people.rhea).post(reverse("worker-drain"), {"worker": row.pk, "reason": "x"}).status_code == 303
    assert before == [2]  # of both workspaces


def test_where_the_broker_is_away_that_is_said_and_nothing_is_recorded(client_of, people, monkeypatch):
    def away(*_, **__):
        raise ConnectionError

    monkeypatch.setattr(drain.Connection, "ensure_connection", away)
    row = worker("shared")
    answer = client_of(people.rhea).post(reverse("worker-drain"), {"worker": row.pk, "reason": "x"})
    assert (answer.status_code, "nothing was changed" in answer.content.decode()) == (503, True)
    assert not Event.objects.filter(kind="worker.drain_asked").exists()


def test_a_drained_worker_ends_by_itself_and_the_trail_says_who_asked(client_of, people: People, crew: Crew):
    process = crew.worker()
    row = wait_for(lambda: Worker.objects.exclude(pool="sweeper").first(), seconds=30, what="the worker's row")
    answer = client_of(people.rhea).post(reverse("worker-drain"), {"worker": row.pk, "reason": "an upgrade"})
    assert answer.status_code == 303
    wait_for(lambda: process.poll() is not None, seconds=60, what="the worker to end")
    said = Event.objects.get(kind="worker.drain_asked", stream=people.workspace.pk)
    assert (said.actor, said.data["worker"], said.data["reason"]) == ("person:rhea", row.name, "an upgrade")
