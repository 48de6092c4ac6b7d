"""The stack as a command uses it: more programs beside the table's own, and a job whose end ends it all."""

import os
import subprocess
import sys

import pytest

from core.output import Output
from core.program import Program
from core.supervisor import Supervisor
from tests.processes import ROOT, alive, wait_for
from tests.stacks import environment

RUN = """
import sys
import django
django.setup()
from core.program import Program
from core.stack import Stack, stack_run
job = Program(name="job", command=(sys.executable, "-c", "import os; print('to', os.environ['PUBLIC_URL']); exit(7)"))
away = [Program(name=name, command=("sleep", "600")) for name in ("web", "worker-1", "worker-2", "sweeper", "world")]
sys.exit(stack_run(Stack(port=0, extra=away, job=job)))
"""


def python(code):
    return sys.executable, "-c", code


def test_the_end_of_the_job_ends_the_stack_with_its_exit_code(tmp_path):
    result = subprocess.run(
        [sys.executable, "-c", RUN], env=environment(tmp_path / "var"), cwd=ROOT, capture_output=True, text=True
    )
    assert result.returncode == 7, result.stderr
    assert "job      | to http://localhost:" in result.stdout
    for name in ("world", "web", "postgres"):
        assert f"{name:<8} | ended" in result.stdout


class Printed:
    """A place for the lines of a supervisor of this test."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass


@pytest.fixture
def printed():
    return Printed()


def supervisor(printed, *programs, job):
    return Supervisor(services=[], programs=programs, job=job, output=Output(stream=printed))


def test_a_program_that_dies_again_and_again_is_started_ever_more_slowly(printed):
    broken = Program(name="broken", command=python("print('half a line', end=''); exit(3)"))
    job = Program(name="job", command=("sleep", "4"))
    supervisor(printed, broken, job=job).run()
    assert "broken   | half a line" in printed.text
    assert "broken   | ended (exit code 3); starting again in 0.1 s" in printed.text
    assert "broken   | ended (exit code 3); starting again in 0.4 s" in printed.text
    assert printed.text.count("broken   | started") < 7


def test_a_program_that_cannot_be_started_is_said_and_tried_again_while_the_others_run(printed):
    missing = Program(name="missing", command=("/nowhere/at/all",))
    assert supervisor(printed, missing, job=Program(name="job", command=python("exit(5)"))).run() == 5
    assert "missing  | ended" in printed.text or "missing  | started" in printed.text


def test_a_program_deaf_to_the_polite_signals_is_killed_and_what_it_started_too(printed, tmp_path):
    note = tmp_path / "pid"
    deaf = Program(
        name="deaf",
        command=("sh", "-c", f"trap '' TERM QUIT; sleep 600 & echo $! > {note}; wait; wait"),
        steps=((15, 0.2), (3, 0.2)),
    )
    waits = Program(name="job", command=("sh", "-c", f"until test -s {note}; do sleep 0.05; done"))
    supervisor(printed, deaf, job=waits).run()
    assert "deaf     | ended (signal SIGKILL)" in printed.text
    wait_for(lambda: not alive(int(note.read_text())), seconds=5, what="the grandchild to end")


def test_a_job_killed_by_a_signal_gives_the_exit_code_of_a_shell(printed):
    assert supervisor(printed, job=Program(name="job", command=("sh", "-c", "kill -9 $$"))).run() == 137


def test_output_whose_reader_left_ends_the_run_instead_of_leaving_it_half_way():
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as stream:
        talker = Program(name="talker", command=("sleep", "600"))
        output = Output(stream=stream)
        run = Supervisor(services=[], programs=[talker], output=output)
        assert run.run() == 0
        assert output.broken
