"""Field cases of the record: order of events, large payloads, and output that JSON or Postgres will not take."""

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, connections, transaction

from core.hints import group_of
from tasks_app.models import Blob, Event, Task
from tasks_app.record import verifier
from tasks_app.record.append import append
from tasks_app.record.events import CallOutcome, TaskPaused, WaitEnded
from tasks_app.record.events import Event as Said
from tasks_app.record.export import export_lines, stream_head
from tasks_app.record.stored import ALTERED, event_stored
from tasks_app.runtime.recorded import data_whole
from tasks_app.selectors.events import events_window
from tests.people import People, people_create
from tests.processes import wait_for
from tests.records import new_task


def said(task: Task, *events: Said) -> int:
    return append(stream=task.pk, events=list(events), actor="worker:test").head_seq


def outcome(result: Any) -> CallOutcome:
    return CallOutcome(name="c", attempt=1, outcome="ok", result=result)


def read(task: Task, seq: int) -> dict[str, Any]:
    return data_whole(task.pk, Event.objects.values_list("data", flat=True).get(stream=task.pk, seq=seq))


def exported_whole(task: Task) -> bool:
    return verifier.verify(export_lines(stream_head(task.pk))).ok


# --- case-21 ---------------------------------------------------------------------------------------


class Elsewhere:
    """A transaction on a connection of its own, in a thread that goes on when it is told to."""

    def __init__(self, work: Callable[[], object]) -> None:
        self.written, self.go_on, self.work = threading.Event(), threading.Event(), work
        self.pid: int | None = None
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        try:
            with transaction.atomic():
                with connection.cursor() as cursor:
                    cursor.execute("SELECT pg_backend_pid()")
                    self.pid = cursor.fetchone()[0]
                self.work()
                self.written.set()
                self.go_on.wait(20)
        finally:
            self.written.set()
            connections.close_all()

    def end(self) -> None:
        self.go_on.set()
        self.thread.join(20)
        assert not self.thread.is_alive()


def waits_for_a_lock(pid: int | None) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = %s", [pid])
        found = cursor.fetchone()
    return bool(found and found[0])


@pytest.mark.django_db(transaction=True)
def test_case_21_a_reader_that_remembers_its_last_sequence_misses_nothing_that_commits_later() -> None:
    people = people_create()
    task = new_task(people.workspace, people.rhea)
    seen = events_window(task=task).head_seq
    slow = Elsewhere(lambda: said(task, TaskPaused(reason="slow")))
    assert slow.written.wait(20)
    quick = Elsewhere(lambda: said(task, TaskPaused(reason="quick")))
    try:
        # The second writer waits for the first, so nothing with a higher sequence can be seen before it.
        wait_for(lambda: waits_for_a_lock(quick.pid), what="the second writer to wait for the row")
        assert events_window(task=task, after=seen).events == []
    finally:
        slow.end()
        assert quick.written.wait(20)
        quick.end()
    rows = events_window(task=task, after=seen).events
    assert [(row.seq, row.data["reason"]) for row in rows] == [(seen + 1, "slow"), (seen + 2, "quick")]
    assert [row.seq for row in events_window(task=task, after=seen + 1).events] == [seen + 2]


@pytest.mark.django_db(transaction=True)
def test_case_21_parallel_writers_never_get_the_same_parent() -> None:
    people = people_create()
    task = new_task(people.workspace, people.rhea)
    start, each = threading.Barrier(4), 8

    def write(number: int) -> None:
        try:
            start.wait(20)
            for at in range(each):
                said(task, TaskPaused(reason=f"{number} {at}"), WaitEnded(kind="timer"))
        finally:
            connections.close_all()

    writers = [threading.Thread(target=write, args=[number]) for number in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    rows = list(Event.objects.filter(stream=task.pk).order_by("seq"))
    assert [row.seq for row in rows] == list(range(1, 1 + 4 * each * 2 + 1))
    assert len({bytes(row.digest) for row in rows}) == len(rows)
    assert exported_whole(task)
    for number in range(4):  # each writer's own order is kept
        own = [row.data["reason"] for row in rows if row.data.get("reason", "").startswith(f"{number} ")]
        assert own == [f"{number} {at}" for at in range(each)]


# --- case-23 ---------------------------------------------------------------------------------------

SIZES = {
    "7,900 bytes": "x" * 7_900,
    "8,000 bytes": "x" * 8_000,
    "8,100 bytes": "x" * 8_100,
    "256 KB": "x" * 256 * 1024,
    "20 MB": "x" * 20 * 1024 * 1024,
    "8,000 bytes of three-byte characters": "語" * 2_667,
}


@pytest.mark.parametrize("size", SIZES)
def test_case_23_a_result_of_any_size_is_stored_whole_and_its_event_stays_small(people: People, size: str) -> None:
    task = new_task(people.workspace, people.rhea)
    seq = said(task, outcome({"page": SIZES[size], "status": 200}))
    assert read(task, seq)["result"] == {"page": SIZES[size], "status": 200}
    stored = Event.objects.get(stream=task.pk, seq=seq).data
    assert len(json.dumps(stored, ensure_ascii=False).encode()) <= 8192 + 200
    blobs = Blob.objects.filter(stream=task.pk)
    assert blobs.exists() == ("$blob" in json.dumps(stored)) == (len(SIZES[size]) > 10_000)
    assert exported_whole(task)


def test_case_23_what_is_told_to_pages_is_ids_alone(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    from core import hints

    told: list[dict[str, Any]] = []
    monkeypatch.setattr(hints._publisher, "put", told.append)
    task = new_task(people.workspace, people.rhea)
    seq = said(task, outcome("x" * 1024 * 1024))
    hints.live_hint(stream=task.pk, workspace=people.workspace.pk, seq=seq)
    message = told[-1][group_of(task.pk)]
    assert len(json.dumps(message)) < 200
    assert message["seq"] == seq


# --- case-24 ---------------------------------------------------------------------------------------

OUTPUTS: dict[str, Any] = {
    "NUL in text": "W\x00s\x00l",
    "NaN and Infinity": {"mape": float("nan"), "max": float("inf")},
    "a lone surrogate": "ok \ud83d",
    "a lone surrogate as a key": {"\ud83d": 1},
    "raw bytes": b"\xff\xfe\x00",
    "a number out of range": 10.0**308 * 10,
    "an integer that JavaScript rounds": 9007199254740993,
    "a key that is no text": {(1, 2): "x"},
    "an object of its own": object(),
    "an emoji across the cut": "x" * 11_999 + "😀" + "y" * 10,
}
AS_IT_WAS = {"the literal text": "\\u0000", "an emoji across the cut": OUTPUTS["an emoji across the cut"]}


@pytest.mark.parametrize("output", OUTPUTS)
def test_case_24_no_output_stops_the_record_and_its_neighbours_are_stored(people: People, output: str) -> None:
    task = new_task(people.workspace, people.rhea)
    seq = said(task, TaskPaused(reason="before"), outcome(OUTPUTS[output]), TaskPaused(reason="after"))
    assert [read(task, at)["reason"] for at in (seq - 2, seq)] == ["before", "after"]
    whole = read(task, seq - 1)
    assert whole["result"] == event_stored(outcome(OUTPUTS[output])).result  # the resumed view is the same view
    json.dumps(whole, allow_nan=False).encode("utf-8")
    if output not in AS_IT_WAS:
        original = whole[ALTERED]["result"]["$original"]["sha256"]
        assert Blob.objects.get(stream=task.pk, sha256=original).size > 0
    assert exported_whole(task)


@pytest.mark.parametrize("output", AS_IT_WAS)
def test_case_24_what_only_looks_odd_stays_as_it_was(people: People, output: str) -> None:
    task = new_task(people.workspace, people.rhea)
    whole = read(task, said(task, outcome(AS_IT_WAS[output])))
    assert whole["result"] == AS_IT_WAS[output]
    assert ALTERED not in whole


def test_case_24_a_big_integer_reaches_a_page_as_text(people: People) -> None:
    task = new_task(people.workspace, people.rhea)
    assert read(task, said(task, outcome({"id": 9007199254740993})))["result"] == {"id": "9007199254740993"}


def test_case_24_of_two_equal_keys_none_is_lost_silently(people: People) -> None:
    from tasks_app.record.rawjson import parse_json

    task = new_task(people.workspace, people.rhea)
    whole = read(task, said(task, outcome(parse_json('{"a": 1, "a": 2, "e": 1e400}'))))
    assert {"1", "2"} <= {str(value) for value in whole["result"].values()}
    assert "result" in whole[ALTERED]
