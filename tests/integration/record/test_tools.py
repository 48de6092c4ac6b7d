"""``manage.py record``: a whole record passes, any change of it is found, in the database and in the file alike."""

import hashlib
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from core.models import Workspace
from tasks_app.models import Task
from tasks_app.record import verifier
from tasks_app.record.append import append, append_administration
from tasks_app.record.events import CallOutcome, SwitchChanged, TaskCancelled, TaskPaused
from tasks_app.record.verify import stream_verify
from tasks_app.services.access import workspace_change
from tasks_app.status import CallState
from tests.people import People
from tests.records import call_in, new_task


@pytest.fixture
def task(people: People) -> Task:
    """A record with calls, and with a blob."""
    row = new_task(people.workspace, people.rhea)
    call_in(row, "pay", CallState.ATTEMPTED)
    append(
        stream=row.pk,
        events=[CallOutcome(name="pay", attempt=1, outcome="ok", result={"page": "x" * 20_000})] * 2,
        actor="worker:test",
    )
    return Task.objects.get(pk=row.pk)


def record(*arguments: object) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("record", *map(str, arguments), stdout=out)
    except SystemExit as end:
        return int(end.code or 0), out.getvalue()
    return 0, out.getvalue()


def as_superuser(statement: str, *values: object) -> None:
    """Change what nobody may change: without the triggers, as a person with the superuser's password could."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = 'replica'")
        cursor.execute(statement, values)
        assert cursor.rowcount > 0
        cursor.execute("SET session_replication_role = 'origin'")


def by_itself(file: Path) -> subprocess.CompletedProcess[str]:
    """Run the verifier as somebody does who has nothing but the two files."""
    copy = file.parent / "verifier.py"
    copy.write_bytes(Path(verifier.__file__).read_bytes())
    command = [sys.executable, "-I", "-S", str(copy), str(file)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=file.parent)


def test_a_record_is_exported_and_checked_with_nothing_but_the_standard_library(task: Task, tmp_path: Path) -> None:
    code, said = record("export", task.pk, tmp_path / "r.jsonl")
    assert (code, said.split()[0]) == (0, str(task.head_seq))
    checked = by_itself(tmp_path / "r.jsonl")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert f"{task.head_seq} events, 1 blobs, {bytes(task.head_digest).hex()}" in checked.stdout


TAMPERED = {
    "a word in an event": 'UPDATE tasks_app_event SET data = data || \'{"outcome": "refused"}\' WHERE seq = 4',
    "who it was": "UPDATE tasks_app_event SET actor = 'person:rhea' WHERE seq = 2",
    "a time": "UPDATE tasks_app_event SET at = at + interval '1 microsecond' WHERE seq = 3",
    "an epoch": "UPDATE tasks_app_event SET epoch = 7 WHERE seq = 3",
    "a digest": "UPDATE tasks_app_event SET digest = sha256(digest) WHERE seq = 3",
    "an event gone": "DELETE FROM tasks_app_event WHERE seq = 3",
    "the last event gone": "DELETE FROM tasks_app_event WHERE seq = 5",
    "the first event gone": "DELETE FROM tasks_app_event WHERE seq = 1",
    "two exchanged": "UPDATE tasks_app_event SET seq = CASE seq WHEN 2 THEN 103 ELSE 2 END WHERE seq IN (2, 3)",
    "a blob": "UPDATE tasks_app_blob SET content = set_byte(content, 5, 0)",
    "a blob gone": "DELETE FROM tasks_app_blob",
}


@pytest.mark.parametrize("change", TAMPERED)
def test_a_change_behind_the_triggers_is_found_in_the_database_and_in_the_file(
    task: Task, tmp_path: Path, change: str
) -> None:
    assert record("verify", task.pk)[0] == 0
    as_superuser(TAMPERED[change])
    code, said = record("verify", task.pk)
    assert code == 1
    assert all(line.startswith(f"task {task.pk}: ") and line.endswith(".") for line in said.splitlines()), said
    assert record("verify")[0] == 1
    record("export", task.pk, tmp_path / "r.jsonl")
    checked = by_itself(tmp_path / "r.jsonl")
    assert checked.returncode == 1
    assert checked.stdout


def test_a_lowered_head_and_an_event_behind_it_are_found_in_the_database(task: Task) -> None:
    as_superuser(
        "UPDATE tasks_app_task SET head_seq = 4, head_digest = (SELECT digest FROM tasks_app_event WHERE seq = 4)"
    )
    assert "Event 5 stands after the head, which is 4." in record("verify", task.pk)[1]


def test_a_head_that_was_noted_elsewhere_is_found_in_its_record_later_and_in_no_other(
    task: Task, tmp_path: Path
) -> None:
    noted = bytes(task.head_digest).hex()
    append(stream=task.pk, events=[TaskPaused(reason="later")], actor="person:rhea")
    record("export", task.pk, tmp_path / "r.jsonl")
    for head, found in ((noted, True), (hashlib.sha256(b"another history").hexdigest(), False)):
        with (tmp_path / "r.jsonl").open() as lines:
            assert verifier.verify(lines, head=head).ok is found


def test_all_records_and_administration_streams_are_checked_by_one_command(task: Task, people: People) -> None:
    append_administration(
        workspace=people.workspace.pk, events=[SwitchChanged(what="stop all")] * 3, actor="person:silas"
    )
    code, said = record("verify")
    assert (code, said) == (0, f"{Workspace.objects.count() + 1} records are whole.\n")
    as_superuser("DELETE FROM tasks_app_event WHERE stream = %s AND seq = 2", people.workspace.pk)
    code, said = record("verify")
    assert code == 1
    assert said.startswith(f"administration {people.workspace.pk}: Event 2 is missing")


def test_events_of_a_task_whose_row_is_gone_are_named(task: Task) -> None:
    as_superuser("DELETE FROM tasks_app_call WHERE task_id = %s", task.pk)
    as_superuser("DELETE FROM tasks_app_task WHERE id = %s", task.pk)
    code, said = record("verify")
    assert code == 1
    assert f"Events of the stream {task.pk}" in said


def test_an_event_of_an_old_epoch_after_a_newer_claim_is_named(task: Task) -> None:
    from uuid import uuid4

    from tasks_app.record.append import Token
    from tasks_app.record.events import After, CheckpointAdvanced, SliceClaimed

    def claim(epoch: int) -> Token:
        token = Token(epoch=epoch, nonce=uuid4())
        lease = {"lease_epoch": epoch, "lease_nonce": token.nonce, "lease_until": After(60), "status": "running"}
        append(stream=task.pk, events=[TaskPaused(reason="x")], actor="w", task=lease)
        claimed = SliceClaimed(worker="w", nonce=str(token.nonce), host="h", pid=1, place="step 1")
        append(stream=task.pk, events=[claimed], actor="w", token=token)
        return token

    claim(1)
    claim(2)
    lower = {"lease_epoch": 1, "lease_nonce": uuid4(), "lease_until": After(60)}
    append(stream=task.pk, events=[TaskPaused(reason="x")], actor="w", task=lower)
    held = Token(epoch=1, nonce=Task.objects.get(pk=task.pk).lease_nonce)
    done = append(stream=task.pk, events=[CheckpointAdvanced(step=1)], actor="w", token=held)
    expected = f"Event {done.head_seq} was written under lease no. 1, after lease no. 2 was claimed."
    assert expected in stream_verify(task.pk).problems


def test_an_unknown_task_is_one_sentence(people: People) -> None:
    with pytest.raises(CommandError):
        call_command("record", "verify", str(people.rhea.pk).rjust(32, "0"))


# --- Append-only -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change", ["UPDATE tasks_app_event SET actor = 'nobody'", "DELETE FROM tasks_app_event", "TRUNCATE tasks_app_event"]
)
def test_the_database_refuses_to_change_what_was_appended(task: Task, change: str) -> None:
    from django.db import ProgrammingError, transaction

    for _ in range(2):
        with pytest.raises(ProgrammingError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(change)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('handrail.purge', %s, true)", [str(task.workspace_id)])
        with pytest.raises(ProgrammingError, match="append-only"), transaction.atomic():
            cursor.execute(change)  # naming another stream opens nothing
    assert record("verify")[0] == 0


# --- Purge -----------------------------------------------------------------------------------------


def ended(task: Task) -> None:
    from tasks_app.record.events import After

    end = {"status": "cancelled", "ended_at": After(-86_400 * 40), "wake_at": None}
    append(stream=task.pk, events=[TaskCancelled(reason="done with")], actor="person:rhea", task=end)


def test_an_old_ended_task_is_removed_after_export_and_what_stays_is_in_the_administration_stream(
    task: Task, people: People, tmp_path: Path
) -> None:
    young, old_but_open = (new_task(people.workspace, people.rhea) for _ in range(2))
    child = Task.objects.get(pk=new_task(people.workspace, people.rhea).pk)
    Task.objects.filter(pk=child.pk).update(parent=task)
    for one in (task, child):
        ended(one)
    end = {"status": "cancelled", "ended_at": "2999-01-01T00:00:00+00:00", "wake_at": None}
    append(stream=young.pk, events=[TaskCancelled(reason="just now")], actor="person:rhea", task=end)
    head = Task.objects.get(pk=task.pk)

    code, said = record("purge", "--older-than", 30, "--to", tmp_path / "out")

    assert code == 0, said
    assert said.endswith("2 tasks were removed.\n")
    assert set(Task.objects.values_list("pk", flat=True)) == {young.pk, old_but_open.pk}
    file = tmp_path / "out" / f"task-{task.pk}-{head.head_seq}.jsonl"
    assert by_itself(file).returncode == 0
    assert [path.suffix for path in (tmp_path / "out").iterdir()].count(".jsonl") == 2
    from tasks_app.models import Blob, Call, Event

    assert not Event.objects.filter(stream__in=[task.pk, child.pk]).exists()
    assert not Call.objects.filter(task=task.pk).exists()
    assert not Blob.objects.filter(stream=task.pk).exists()
    kept = Event.objects.filter(stream=people.workspace.pk, kind="record.purged").order_by("seq")
    assert [row.data["task"] for row in kept] == [str(child.pk), str(task.pk)]
    assert kept[1].data["last_seq"] == head.head_seq
    assert kept[1].data["head_digest"] == bytes(head.head_digest).hex()
    assert record("verify")[0] == 0


def test_without_an_age_each_workspace_keeps_its_tasks_as_long_as_it_says(
    task: Task, people: People, tmp_path: Path
) -> None:
    ended(task)
    assert record("purge", "--to", tmp_path)[1] == "0 tasks were removed.\n"  # kept for ever
    workspace_change(workspace=people.workspace, name="Harbour", keep_days=40_000, actor="person:rhea")
    assert record("purge", "--to", tmp_path)[1] == "0 tasks were removed.\n"
    workspace_change(workspace=people.workspace, name="Harbour", keep_days=30, actor="person:rhea")
    workspace_change(workspace=people.elsewhere, name="Elsewhere", keep_days=1, actor="person:tobin")
    assert record("purge", "--to", tmp_path)[1].endswith("1 task was removed.\n")
    assert not Task.objects.filter(pk=task.pk).exists()


def test_a_broken_record_is_evidence_and_is_never_purged(task: Task, tmp_path: Path) -> None:
    ended(task)
    as_superuser("UPDATE tasks_app_event SET actor = 'nobody' WHERE stream = %s AND seq = 2", task.pk)
    with pytest.raises(CommandError, match="not whole"):
        record("purge", "--older-than", 30, "--to", tmp_path)
    assert Task.objects.filter(pk=task.pk).exists()
    assert not list(tmp_path.glob("*.jsonl"))
