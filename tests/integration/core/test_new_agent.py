"""``manage.py new agent NAME``: what it writes is tested, whole, and runs to completion as it is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import ROOT
from tests.stacks import environment


def manage(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
    env = environment(Path(os.environ["HANDRAIL_TEST_VAR"])) | more
    return subprocess.run([sys.executable, *words], env=env, cwd=ROOT, capture_output=True, text=True, timeout=60)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("agents")
    done = manage("manage.py", "new", "agent", "invoice.chase", "--into", str(folder))
    assert done.returncode == 0, done.stderr
    assert "test_invoice_chase" in done.stdout
    return folder


def test_its_own_tests_pass(written: Path) -> None:
    path = f"{written}:{ROOT}"
    done = manage("-W", "error", "-m", "unittest", "invoice_chase.test_invoice_chase", PYTHONPATH=path)
    assert done.returncode == 0, done.stderr
    assert "Ran 8 tests" in done.stderr


def test_it_is_loaded_from_outside_and_check_finds_nothing_missing(written: Path) -> None:
    names = {"PYTHONPATH": str(written), "HANDRAIL_MODULES": "invoice_chase"}
    done = manage("manage.py", "check", "--fail-level", "INFO", **names)
    assert done.returncode == 0, done.stderr
    listed = manage("manage.py", "shell", "-v", "0", "-c", LIST, **names)
    assert listed.stdout.split() == ["invoice.chase", "invoice.post"]


LIST = """
from tasks_app import registry
registry.modules_load()
print(registry.agents()[0].name, registry.tools()[0].name)
"""


def test_no_name_of_the_example_is_left(written: Path) -> None:
    text = "".join(path.read_text() for path in written.rglob("*.py"))
    assert not [word for word in ("own_agent", "own.agent", "own-agent", "own.post", "OWN_AGENT") if word in text]


def test_a_module_that_cannot_be_imported_is_named_by_check() -> None:
    done = manage("manage.py", "check", HANDRAIL_MODULES="no_such_agent")
    assert done.returncode == 1
    assert "no_such_agent" in done.stderr
    assert "PYTHONPATH" in done.stderr


def test_a_name_that_is_none_and_a_folder_that_is_there_are_refused(written: Path) -> None:
    for name, word in (("Invoice", "no name"), ("invoice.chase", "exists already")):
        done = manage("manage.py", "new", "agent", name, "--into", str(written))
        assert done.returncode == 1
        assert word in done.stderr
