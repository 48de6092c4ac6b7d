"""The audit: who changed what, whether the chain is whole, and a file that anybody can check."""

from datetime import timedelta

from django.db import connection
from django.urls import reverse

from core.access import Role
from core.board import trail
from core.clock import database_now
from tasks_app.models import Task
from tasks_app.record.verifier import verify
from tasks_app.services.access import roles_set
from tasks_app.services.steer import task_pause
from tasks_app.services.stops import stop_set
from tests.people import People, person

EVIL = "<script>alert(1)</script>\u202e"


def changed(people: People, *roles: Role) -> None:
    roles_set(workspace=people.workspace, user=people.silas, roles=roles, actor="person:rhea")


def page(client, **query: str) -> str:
    answer = client.get(reverse("audit"), query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_only_auditors_engineers_and_admins_read_it_and_find_it_in_the_navigation(client_of, people: People, db):
    for role, status in ((Role.VIEWER, 403), (Role.OPERATOR, 403), (Role.APPROVER, 403), (Role.AUDITOR, 200)):
        client = client_of(person(role.value, people.workspace, role))
        assert client.get(reverse("audit")).status_code == status
        assert ('href="/audit/"' in client.get(reverse("tasks")).content.decode()) == (status == 200)
    assert client_of(people.tobin).get(reverse("audit"), {"workspace": "harbour"}).status_code == 404


def test_every_change_is_there_with_its_author_and_the_difference(client_of, people: People, transactional_db):
    changed(people, Role.VIEWER)
    stop_set(workspace=people.workspace, scope="agent", name="a", reason="x", user=people.rhea, actor="person:rhea")
    rhea = client_of(people.rhea)
    shown = page(rhea)
    assert "roles of silas" in shown
    assert "viewer" in shown
    assert shown.index("stop agent a") < shown.index("roles of silas")
    assert "stop agent a" not in page(rhea, kind="role")
    assert "roles of silas" not in page(rhea, person="silas")
    assert "roles of silas" not in page(rhea, until=f"{database_now() - timedelta(days=1):%Y-%m-%dT%H:%M}")


def test_what_people_did_to_tasks_is_one_list_over_all_records(client_of, people: People, task: Task):
    task_pause(workspace=people.workspace, task=task.pk, actor="person:silas", reason="lunch")
    shown = page(client_of(people.rhea), tab="tasks")
    assert "paused" in shown
    assert "Clean the harbour" in shown
    assert "lunch" not in page(client_of(people.rhea), tab="tasks", person="rhea")
    assert "Clean the harbour" not in page(client_of(people.tobin), tab="tasks")


def test_a_whole_chain_is_said_to_be_whole_and_a_broken_one_to_be_broken(client_of, people: People, transactional_db):
    changed(people, Role.VIEWER)
    changed(people, Role.ADMIN)
    rhea = client_of(people.rhea)
    assert "The chain is whole" in page(rhea, check="1")
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = 'replica'")
        cursor.execute(
            "UPDATE tasks_app_event SET actor = 'person:nobody' WHERE stream = %s AND seq = 1", [people.workspace.pk]
        )
        cursor.execute("SET session_replication_role = 'origin'")
    assert "The chain is broken." in page(rhea, check="1")


def test_a_stream_that_is_too_long_is_not_checked_in_a_page(client_of, people: People, transactional_db, monkeypatch):
    changed(people, Role.VIEWER)
    monkeypatch.setattr(trail, "CHECKED", 0)
    assert "too long to be checked while you wait" in page(client_of(people.rhea), check="1")


def test_the_file_can_be_checked_by_anybody(client_of, people: People, transactional_db):
    changed(people, Role.VIEWER)
    answer = client_of(people.rhea).get(reverse("audit-export"))
    assert "attachment" in answer["Content-Disposition"]
    lines = b"".join(answer.streaming_content).decode().splitlines()
    report = verify(iter(lines))
    assert report.problems == []
    assert client_of(people.silas).get(reverse("audit-export")).status_code == 403


def test_hostile_text_is_inert(client_of, people: People, transactional_db):
    stop_set(workspace=people.workspace, scope="tool", name=EVIL, reason=EVIL, user=people.rhea, actor="person:rhea")
    shown = page(client_of(people.rhea))
    assert "<script>alert" not in shown
    assert "\u202e" not in shown


def test_older_entries_are_on_the_next_page(client_of, people: People, transactional_db, monkeypatch):
    monkeypatch.setattr(trail, "ROWS", 2)
    for roles in ((Role.VIEWER,), (Role.ADMIN,), (Role.AUDITOR,)):
        changed(people, *roles)
    rhea = client_of(people.rhea)
    first = rhea.get(reverse("audit")).context
    assert [one.event.seq for one in first["entries"]] == [3, 2]
    second = rhea.get(reverse("audit") + first["next_url"]).context
    assert [one.event.seq for one in second["entries"]] == [1]
    assert (second["next_url"], second["first_url"]) == ("", "?")
