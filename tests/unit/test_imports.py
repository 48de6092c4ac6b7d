"""Who may import whom."""

import re
import subprocess
import sys

import pytest

from tests.processes import ROOT


def test_the_import_contracts_hold():
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout


COMPOSITION_ROOT = {"settings.py", "urls.py", "asgi.py", "celery.py", "api.py", "pages.py"}


@pytest.mark.parametrize("package", ["core", "tasks_app", "approvals_app"])
def test_production_code_does_not_know_that_drills_exist(package):
    knowing = {
        str(path.relative_to(ROOT))
        for path in (ROOT / package).rglob("*")
        if path.suffix in {".py", ".html", ".txt", ".js", ".css"}
        and re.search("chaos", path.read_text(), re.IGNORECASE)
    }
    assert knowing - {f"core/{name}" for name in COMPOSITION_ROOT} == set()
