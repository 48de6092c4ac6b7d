"""Making .venv on machines that lack something: one sentence that says what to install, nothing half made."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.processes import ROOT

SHIM = "#!/bin/sh\necho 'version not installed' >&2\nexit 127\n"
# An interpreter as Debian ships it without python3-venv: all there, but for ensurepip.
WITHOUT_VENV = f"""#!/bin/sh
case "$*" in *ensurepip*) exit 1 ;; *sys.executable*) echo "$0"; exit ;; esac
exec {sys.executable} "$@"
"""


@pytest.fixture
def machine(tmp_path):
    """A folder with the bootstrap in it, and a PATH of only what the test puts there."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "environment", tmp_path / ".ci" / "environment")
    (tmp_path / "empty.lock").write_text("")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("sh", "touch", "basename"):
        (programs / name).symlink_to(shutil.which(name))

    def run(**scripts):
        for name, text in scripts.items():
            path = programs / name.replace("_", ".")
            path.write_text(text)
            path.chmod(0o755)
        return subprocess.run(
            [".ci/environment", "empty.lock"],
            cwd=tmp_path,
            env={"PATH": str(programs), "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
        )

    return run


def test_no_python_that_runs_is_said_with_what_to_install(machine, tmp_path):
    result = machine(python3_13=SHIM, python3=SHIM)
    assert result.returncode == 1
    assert "Handrail needs Python 3.12 or newer" in result.stderr
    assert not (tmp_path / ".venv").exists()


def test_a_python_without_venv_is_said_before_half_an_environment_is_made(machine, tmp_path):
    result = machine(python3=WITHOUT_VENV)
    assert result.returncode == 1
    assert "apt-get install python3-venv" in result.stderr
    assert not (tmp_path / ".venv").exists()


def test_a_shim_that_fails_is_passed_over_and_a_broken_environment_is_made_again(machine, tmp_path):
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to("/nowhere/python3")
    result = machine(python3_13=SHIM, python3=f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    assert result.returncode == 0, result.stderr
    assert os.access(tmp_path / ".venv" / "bin" / "python", os.X_OK)
    assert (tmp_path / ".venv" / ".installed-empty.lock").exists()
