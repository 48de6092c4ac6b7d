"""The list of escapes, each tried from inside a tool: each fails, and is shown."""

import os
import socket
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tasks_app.sandbox.cgroups import group_make, groups_work
from tests.integration.sandbox.conftest import act, inside, said
from tests.sandbox_tools import SMALL, box_keyed

pytestmark = pytest.mark.usefixtures("cold_and_warm")


def gone(until: float) -> bool:
    """Whether all of them end but those that wait for another call."""
    while len(inside()) > 0:
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def test_it_reads_no_file_of_the_host(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("planted")
    assert "planted" not in said("read_file", word=str(secret))
    for path in ("/etc/shadow", "/etc/passwd", "/etc/hostname", "/proc/1/environ", "/proc/1/root/etc/shadow"):
        assert said("read_file", word=path).startswith("OSError"), path
    for path in ("/home", "/var", "/srv", "/sys", "/run/user"):
        assert str(said("read_folder", word=path)).startswith("OSError"), path


def test_it_sees_the_code_it_needs_and_nothing_beside_it():
    root = Path(__file__).resolve().parents[3]
    seen = said("read_folder", word=str(root))
    assert set(seen) <= {"core", "tasks_app", "tests", ".venv"}


def test_it_inherits_no_environment(monkeypatch):
    monkeypatch.setenv("HANDRAIL_PLANTED", "planted")
    seen = said("environment")
    assert set(seen) <= {"PATH", "HOME", "TMPDIR", "LANG", "PWD"}


def test_of_the_environment_it_sees_what_its_contract_names_and_no_more(monkeypatch):
    monkeypatch.setenv("HANDRAIL_PLANTED", "planted")
    monkeypatch.setenv("MAIL_URL", "http://mail.example/")
    seen = said("environment", contract=replace(box_keyed, environment=("MAIL_URL", "NOT_SET")))
    assert set(seen) <= {"PATH", "HOME", "TMPDIR", "LANG", "PWD", "MAIL_URL"}
    assert seen["MAIL_URL"] == "http://mail.example/"


def test_it_sees_no_other_process_and_signals_none():
    seen = said("processes")
    assert set(seen) == {"1", "2"}
    other = subprocess.Popen(["sleep", "30"])
    try:
        assert said("kill", number=other.pid)[str(other.pid)] == "ProcessLookupError"
        assert said("kill", number=os.getpid())[str(os.getpid())] == "ProcessLookupError"
        assert other.poll() is None
    finally:
        other.kill()
        other.wait(10)


def test_it_reaches_no_address():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        places = f"127.0.0.1:{port} 10.0.0.1:80 192.168.1.1:80 169.254.169.254:80 1.1.1.1:53 example.com:443"
        seen = said("reach", word=places)
    assert len(seen) == 6
    assert all(one.startswith("OSError") for one in seen.values()), seen


def test_it_writes_nowhere_but_in_its_own_folder(tmp_path):
    seen = said("write_outside", word=str(tmp_path))
    assert "written" not in seen.values(), seen
    assert not list(tmp_path.iterdir())


def test_its_folder_is_empty_each_time():
    assert said("write_own", word="x") == ["mine"]
    assert said("write_own", word="y") == ["mine"]
    assert not Path("/tmp/mine").exists()


def test_it_raises_no_privileges():
    seen = said("privileges")
    assert {seen["CapEff"], seen["CapPrm"]} == {"0" * 16}
    assert seen["NoNewPrivs"] == "1"
    assert (seen["mount"], seen["userns"], seen["hostname"]) == (-1, -1, -1)
    assert seen["limit"] == "refused"
    assert seen["kernel"] == "No such file or directory"
    assert seen["user"] != 0
    assert seen["superuser"] == "refused"


def test_it_has_no_descriptor_but_its_channel(tmp_path):
    held = os.open(tmp_path, os.O_RDONLY)
    os.set_inheritable(held, True)
    try:
        seen = said("descriptors")
    finally:
        os.close(held)
    assert list(seen.values()) == ["device", "pipe", "pipe", "socket"]


def test_nothing_outlives_the_call():
    assert said("outlive") == "left"
    assert gone(time.monotonic() + 1.0)


def test_an_answer_after_the_deadline_counts_for_nothing():
    outcome = act("forge_late", number=10, seconds=3.0)
    assert (outcome.outcome, (outcome.error or {})["code"]) == ("unknown", "deadline")
    assert gone(time.monotonic() + 1.0)


def test_what_it_claims_on_its_channel_is_at_most_its_own_answer():
    outcome = act("forge")
    assert (outcome.outcome, outcome.result, outcome.reference) == ("ok", "forged", "F-1")
    assert gone(time.monotonic() + 1.0)


def test_of_two_answers_the_first_counts():
    outcome = act("two_answers")
    assert (outcome.outcome, outcome.result) == ("ok", "first")


def test_an_answer_that_never_ends_is_none():
    outcome = act("bit_by_bit", seconds=3.0)
    assert (outcome.outcome, (outcome.error or {})["code"]) == ("unknown", "deadline")


def test_each_of_its_processes_is_bound_by_its_contract():
    """Beside the limits over all of them together, which not every machine gives."""
    seen = said("limits")
    cpu = seen.pop("CPU")
    sizes = {"AS": SMALL.memory, "NPROC": SMALL.processes, "FSIZE": SMALL.file, "NOFILE": SMALL.descriptors}
    assert seen == sizes | {"CORE": 0}
    assert SMALL.cpu <= cpu <= SMALL.cpu + 2


def test_all_of_its_processes_are_bound_together_where_the_machine_can():
    if not groups_work():
        pytest.skip("No control groups here.")
    group = group_make(memory=SMALL.memory, processes=SMALL.processes)
    try:
        found = {name: text for folder in group.folders for name in NAMES if (text := read(folder / name))}
        assert found["pids.max"] == str(SMALL.processes)
        assert str(SMALL.memory) in {found.get("memory.max"), found.get("memory.limit_in_bytes")}
    finally:
        group.remove()
    assert said("limits")  # and one of these is made for every sandbox: what it may not is tried below


def read(path: Path) -> str:
    return path.read_text().strip() if path.exists() else ""


NAMES = ("pids.max", "memory.max", "memory.limit_in_bytes")


@pytest.mark.parametrize(("what", "most"), [("fork_bomb", 24), ("threads", 24)], ids=["processes", "threads"])
def test_it_starts_no_more_than_its_limit(what, most):
    assert 0 < said(what) <= most
    assert gone(time.monotonic() + 1.0)


def test_it_fills_no_disk():
    seen = said("disk")
    assert seen["mib"] <= 16
    assert "space" in seen["why"]
    assert "large" in said("large_file")


def test_it_makes_no_more_files_than_its_folder_has_pages():
    outcome = act("inodes", number=SMALL.files + 100)
    assert (outcome.outcome, (outcome.error or {})["code"]) == ("unknown", "sandbox-files")
    assert said("inodes", number=SMALL.files - 100) == SMALL.files - 100


def test_it_opens_no_more_than_its_descriptors():
    assert said("open_many")["opened"] < 256


def test_all_of_its_processes_together_use_no_more_processor_time_than_its_limit():
    """One after another, each of them within the limit of one."""
    outcome = act("spin_in_turn", number=30, seconds=40.0)
    assert (outcome.outcome, (outcome.error or {})["code"]) == ("unknown", "sandbox-cpu")
    assert (outcome.used or {})["cpu_ms"] < 8000


def test_it_uses_no_more_memory_than_its_limit():
    outcome = act("memory")
    assert (outcome.error or {})["code"] == "sandbox-memory"


def test_all_of_its_processes_together_use_no_more_memory_than_its_limit():
    outcome = act("memory_of_many")
    assert outcome.result == "one was ended" or (outcome.error or {})["code"] == "sandbox-memory"
    assert (outcome.used or {})["memory_kib"] <= 400 * 1024
