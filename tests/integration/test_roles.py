"""With an owner's role of its own, the application may add to the record and cannot change it, trigger or not."""

import os
import subprocess
import sys

import psycopg
import pytest

from tests.processes import ROOT

OWNER = "handrail_owner"


@pytest.fixture
def migrated(private_services):
    """A database that was migrated by an owner's role; gives the addresses of application and owner."""
    services = private_services()
    with psycopg.connect(services.postgres.superuser_url, autocommit=True) as superuser:
        superuser.execute(f"CREATE ROLE {OWNER} LOGIN")
        superuser.execute(f"CREATE DATABASE two_roles OWNER {OWNER}")
    application = services.database_url.replace("/handrail?", "/two_roles?")
    owner = application.replace("handrail@", f"{OWNER}@")
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "core.settings",
        "DATABASE_URL": application,
        "DATABASE_OWNER_URL": owner,
    }
    result = subprocess.run(
        [sys.executable, "manage.py", "migrate", "-v", "0"], env=environment, cwd=ROOT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return application, owner


def test_the_application_reads_and_writes_its_tables_and_only_adds_to_the_record(migrated):
    application, owner = migrated
    with psycopg.connect(application, autocommit=True) as connection:
        connection.execute("INSERT INTO auth_group (name) VALUES ('approvers')")
        connection.execute("UPDATE auth_group SET name = 'operators'")
        connection.execute("DELETE FROM auth_group")
        connection.execute(
            "INSERT INTO tasks_app_event (stream, seq, kind, data, actor, at, digest)"
            " VALUES (uuidv7(), 1, 'task.created', '{}', 'system', now(), '')"
        )
        assert connection.execute("SELECT count(*) FROM tasks_app_event").fetchone() == (1,)
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute("ALTER TABLE tasks_app_event DISABLE TRIGGER ALL")
    with psycopg.connect(application, autocommit=True) as connection:
        for change in (
            "UPDATE tasks_app_event SET actor = 'nobody'",
            "DELETE FROM tasks_app_event",
            "TRUNCATE tasks_app_event",
            "ALTER TABLE tasks_app_event ENABLE TRIGGER ALL",
            "SET session_replication_role = 'replica'",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(change)


MAKE = """
from django.contrib.auth.models import User
from core.models import Membership, Workspace
import tests.agents
from tasks_app.record.append import append
from tasks_app.record.events import After, TaskCancelled
from tasks_app.services.create import task_create
workspace = Workspace.objects.create(slug="w", name="W")
rhea = User.objects.create_user("rhea")
Membership.objects.create(user=rhea, workspace=workspace, role="engineer")
task = task_create(workspace=workspace, owner=rhea, actor="person:rhea", agent="test.free", intent={})
end = {"status": "cancelled", "ended_at": After(-86_400 * 40), "wake_at": None}
append(stream=task.pk, events=[TaskCancelled(reason="done with")], actor="person:rhea", task=end)
"""


def manage(*arguments, **urls):
    """Run a command of ours with these addresses and no others."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("DATABASE_")}
    environment |= {"DJANGO_SETTINGS_MODULE": "core.settings"} | urls
    return subprocess.run(
        [sys.executable, "manage.py", *map(str, arguments)], env=environment, cwd=ROOT, capture_output=True, text=True
    )


def test_old_records_are_removed_by_the_owner_and_by_nobody_else(migrated, tmp_path):
    application, owner = migrated
    assert (made := manage("shell", "-v", "0", "-c", MAKE, DATABASE_URL=application)).returncode == 0, made.stderr
    purge = ("record", "purge", "--older-than", 30, "--to", tmp_path)

    refused = manage(*purge, DATABASE_URL=application)
    assert refused.returncode == 1
    assert "set DATABASE_OWNER_URL" in refused.stderr
    assert "Traceback" not in refused.stderr
    with psycopg.connect(application) as connection:
        assert connection.execute("SELECT count(*) FROM tasks_app_task").fetchone() == (1,)

    done = manage(*purge, DATABASE_URL=application, DATABASE_OWNER_URL=owner)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("1 task was removed.\n")
    assert len(list(tmp_path.glob("task-*.jsonl"))) == 1
    with psycopg.connect(application) as connection:
        assert connection.execute("SELECT count(*) FROM tasks_app_task").fetchone() == (0,)
        kinds = connection.execute("SELECT kind FROM tasks_app_event").fetchall()
    assert kinds == [("record.purged",)]
    assert manage("record", "verify", DATABASE_URL=application).returncode == 0
