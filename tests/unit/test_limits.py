"""A test that waits for ever costs a run its limit, and is named."""

import os
import subprocess
import sys
from pathlib import Path

from tests.processes import ROOT

TESTS = """
import os, signal, threading
import pytest

def for_ever():
    threading.Event().wait()

@pytest.fixture
def never_ends():
    yield
    for_ever()

def test_teardown_after_a_failure(never_ends):
    raise AssertionError("it fails")

def test_finally_after_its_time():
    try:
        for_ever()
    finally:
        for_ever()

def test_stopped():
    os.kill(os.getpid(), signal.SIGSTOP)

def test_without_its_variable(monkeypatch):
    monkeypatch.delenv("HANDRAIL_TEST_VAR")

def test_another():
    pass
"""
PLUGINS = ("no:django", "no:randomly", "no:cacheprovider", "tests.limits", "tests.told")
OPTIONS = (*(word for name in PLUGINS for word in ("-p", name)), "-o", "timeout=1", "-n", "1", "-rA")


def test_what_never_ends_is_ended_and_named_and_the_others_run(tmp_path: Path):
    (tmp_path / "test_hanging.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *OPTIONS, "test_hanging.py"],
        env=os.environ | {"PYTHONPATH": str(ROOT), "HANDRAIL_TEST_GRACE": "1", "HANDRAIL_TEST_VAR": str(tmp_path)},
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert "ERROR test_hanging.py::test_teardown_after_a_failure - Failed: Timeout" in ran.stdout, ran.stdout
    for name in ("test_finally_after_its_time", "test_stopped"):
        assert f"crashed while running 'test_hanging.py::{name}'" in ran.stdout
        assert f"ended: test_hanging.py::{name}, its process " in ran.stderr
    assert "failed in teardown: test_hanging.py::test_teardown_after_a_failure" in ran.stdout
    for name in ("test_without_its_variable", "test_another"):
        assert f"PASSED test_hanging.py::{name}" in ran.stdout
    assert "in test_finally_after_its_time" in ran.stderr
    assert ran.returncode == 1
