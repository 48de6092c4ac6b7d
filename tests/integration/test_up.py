"""``manage.py up`` as a person runs it: it restarts what dies, and stops exactly what it started."""

import signal
import subprocess
from contextlib import ExitStack

import psycopg
import pytest

from core.embedded import address
from tests.processes import alive, descendants, kill, running, wait_for
from tests.stacks import attempt, environment, stack_up

pytestmark = pytest.mark.timeout(300)  # whole stacks start and end here, also on a machine that is busy


@pytest.fixture
def up(tmp_path):
    """Start stacks in a folder of this test."""
    with ExitStack() as stack:
        yield lambda *options: stack.enter_context(stack_up(tmp_path / "var", tmp_path / "up.log", *options))


@pytest.fixture
def bystander():
    """A process that the stack did not start."""
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


def test_everything_that_dies_is_started_again_and_ctrl_c_ends_exactly_what_was_started(up, bystander):
    stack = up()
    for name in ("web", "worker-1", "worker-2"):
        before = stack.pid(name)
        kill(before)
        wait_for(lambda name=name, before=before: stack.pid(name) != before, seconds=90, what=f"{name} to come back")
    wait_for(stack.answers, seconds=90, what="the pages")

    for name, program in (("postgres", "postgres"), ("valkey", "valkey-server")):
        kill(stack.server(program))
        wait_for(lambda name=name: f"{name:<8} | started, process" in stack.printed(), what=name)
    wait_for(stack.answers, seconds=90, what="the pages, on the restarted Postgres")

    everything = descendants(stack.process.pid)
    assert len(everything) > 5
    assert address.pages_file(stack.var).read_text() == stack.url()
    stack.process.send_signal(signal.SIGINT)
    assert stack.process.wait(timeout=90) == 0
    assert [pid for pid in everything if alive(pid)] == []
    assert not address.pages_file(stack.var).exists()
    assert bystander.poll() is None


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


def test_ctrl_c_while_it_starts_ends_it_without_a_trace(tmp_path):
    with running("manage.py", "up", "--port", "0", env=environment(tmp_path / "var"), log=tmp_path / "log") as process:
        wait_for((tmp_path / "var" / "postgres").exists, seconds=60, what="the data folder")
        everything = descendants(process.pid)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) in (0, 130)
    assert [pid for pid in everything if alive(pid)] == []
    assert "Traceback" not in (tmp_path / "log").read_text()


def test_a_second_start_in_the_same_folder_names_the_first_and_leaves_it_alone(up):
    stack = up()
    result = attempt(stack.var)
    assert result.returncode == 1
    assert f"Handrail already runs in {stack.var} (process {stack.process.pid})" in result.stderr
    assert stack.process.poll() is None
    assert stack.answers()
