"""Postgres does not run as root: in a user namespace where that is allowed, under another uid where it is not."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from core.embedded.services import embedded
from tests.processes import ROOT

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root has this trouble")

INSIDE = """
import os, sys
from pathlib import Path
os.unshare(os.CLONE_NEWUSER)
print("unshared", flush=True)
sys.stdin.readline()
os.setuid(0)
os.setgid(0)
Path("/proc/sys/user/max_user_namespaces").write_text("0")
from core.embedded.errors import EmbeddedError
from core.embedded.services import embedded
try:
    with embedded(Path(sys.argv[1])) as services:
        services.postgres.kill()
        services.postgres.start()
        print("ran as", os.stat(f"/proc/{services.postgres.process.pid}").st_uid)
except EmbeddedError as error:
    print(error)
"""


def start_where_namespaces_are_forbidden(var):
    """Start the services as root of a user namespace that has every uid and may make no further namespace."""
    with subprocess.Popen(
        [sys.executable, "-c", INSIDE, str(var)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        process.stdout.readline()
        for name in ("uid_map", "gid_map"):
            Path(f"/proc/{process.pid}/{name}").write_text("0 0 65536")
        return process.communicate("go\n", timeout=60)[0]


@pytest.fixture
def open_folder():
    """A folder that every user may enter, as a checkout under /srv or /home may be."""
    folder = Path(tempfile.mkdtemp(prefix="handrail-open-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_in_a_user_namespace_every_file_stays_roots_own(tmp_path):
    with embedded(tmp_path / "var") as services:
        assert services.postgres.data.stat().st_uid == 0


def test_without_user_namespaces_it_runs_under_another_uid_and_both_ways_share_one_folder(open_folder):
    with embedded(open_folder / "var"):
        pass
    assert "ran as 65534" in start_where_namespaces_are_forbidden(open_folder / "var")
    with embedded(open_folder / "var") as services:
        assert services.postgres.process.poll() is None


def test_a_folder_that_the_other_uid_cannot_enter_is_named(tmp_path):
    tmp_path.chmod(0o700)
    said = start_where_namespaces_are_forbidden(tmp_path / "var")
    assert "cannot be used: Postgres does not run as root" in said
    assert "HANDRAIL_VAR" in said
