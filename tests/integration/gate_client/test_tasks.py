"""Tasks of several calls, opened and finished by a client of the gate."""

from uuid import UUID

import pytest
from handrail_gate import (
    Gate,
    Wanted,
)

from tasks_app.models import Task
from tasks_app.testing import task_run, worker_here
from tests.desk import Desk, decide
from tests.integration.gate_client.test_client import asked, in_thread, note_of


def ended(task: str) -> str:
    """Let a worker end it, as it does by itself where one runs; return how."""
    return task_run(UUID(task), worker_here()).status


def test_a_task_of_several_calls_is_opened_and_finished_with_its_block(gate: Gate, desk: Desk):
    with gate.task("Two notes", intent={"room": "hall"}, request_key="two-notes") as opened:
        for text in ("one", "two"):
            going = in_thread(lambda text=text: note_of(gate, [], task=opened.id)(text))
            decide(asked(), desk.rhea)
            assert going.result(20) == {"noted": text}
        assert gate.open_task("Two notes", intent={"room": "hall"}, request_key="two-notes").id == opened.id
    assert ended(opened.id) == "completed"
    task = Task.objects.get()
    assert (str(task.pk), task.title, task.calls.count()) == (opened.id, "Two notes", 2)


def test_a_block_that_raises_has_failed_and_a_task_with_an_open_call_waits_for_it(gate: Gate, desk: Desk):
    with pytest.raises(ZeroDivisionError), gate.task("Breaks off") as broken:
        raise ZeroDivisionError
    assert ended(broken.id) == "failed"
    opened = gate.open_task("Waits")
    gate.request(Wanted(tool="gate.note", arguments={"text": "x"}, request_key="k-2", task=opened.id))
    assert gate.finish(opened.id).status == "waiting"
