"""``manage.py up`` as a person runs it: it restarts what dies, and stops exactly what it started."""

import signal
import subprocess
from contextlib import ExitStack

import psycopg
import pytest

from core.embedded import address
from tests.processes import alive, descendants, kill, wait_for
from tests.stacks import attempt, stack_up


@pytest.fixture
def up(tmp_path):
    """Start stacks in a folder of this test."""
    with ExitStack() as stack:
        yield lambda *options: stack.enter_context(stack_up(tmp_path / "var", tmp_path / "up.log", *options))


def test_everything_that_dies_is_started_again_and_ctrl_c_ends_exactly_what_was_started(up):
    with subprocess.Popen(["sleep", "600"]) as bystander:
        stack = up()
        for name in ("web", "worker-1", "worker-2"):
            before = stack.pid(name)
            kill(before)
            wait_for(lambda name=name, before=before: stack.pid(name) != before, what=f"{name} to come back")
        wait_for(stack.answers, what="the pages")

        for name, program in (("postgres", "postgres"), ("valkey", "valkey-server")):
            kill(stack.server(program))
            wait_for(lambda name=name: f"{name:<8} | started, process" in stack.printed(), what=name)
        wait_for(stack.answers, what="the pages, on the restarted Postgres")

        everything = descendants(stack.process.pid)
        assert len(everything) > 5
        stack.process.send_signal(signal.SIGINT)
        assert stack.process.wait(timeout=30) == 0
        assert [pid for pid in everything if alive(pid)] == []
        assert bystander.poll() is None
        bystander.kill()


def test_a_killed_supervisor_leaves_nothing_running_and_the_next_start_carries_on_with_the_data(up):
    stack = up()
    with psycopg.connect(address.database_url(stack.var), autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS n")
    everything = descendants(stack.process.pid)
    stack.process.kill()
    wait_for(lambda: not [pid for pid in everything if alive(pid)], seconds=10, what="every process to end")

    again = up()
    with psycopg.connect(address.database_url(again.var)) as connection:
        assert connection.execute("SELECT n FROM kept").fetchone() == (7,)


def test_a_second_start_in_the_same_folder_names_the_first_and_leaves_it_alone(up):
    stack = up()
    result = attempt(stack.var)
    assert result.returncode == 1
    assert f"Handrail already runs in {stack.var} (process {stack.process.pid})" in result.stderr
    assert stack.process.poll() is None
    assert stack.answers()
