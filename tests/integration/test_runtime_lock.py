"""What ``make demo`` installs is enough: a stack runs with the packages of requirements.lock and no others."""

import re
from importlib.metadata import packages_distributions

import psycopg
import pytest

from core.embedded import address
from tests.processes import ROOT, wait_for
from tests.stacks import stack_up

BLOCK = """
import sys

MISSING = {missing!r}


class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in MISSING:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)


sys.meta_path.insert(0, Missing())
"""


def not_in_the_run_lock():
    """Modules that only packages for development bring."""
    locked = {
        name.lower().replace("_", "-")
        for name in re.findall(r"^([\w.-]+)==", (ROOT / "requirements.lock").read_text(), re.M)
    }
    return sorted(
        module
        for module, distributions in packages_distributions().items()
        if not {name.lower().replace("_", "-") for name in distributions} & locked
    )


@pytest.mark.timeout(200)
def test_a_stack_runs_with_the_packages_of_the_run_lock_alone(tmp_path):
    missing = not_in_the_run_lock()
    assert "pytest" in missing
    (tmp_path / "sitecustomize.py").write_text(BLOCK.format(missing=missing))
    with stack_up(tmp_path / "var", tmp_path / "log", PYTHONPATH=str(tmp_path)) as up:

        def workers_or_trouble():
            with psycopg.connect(address.database_url(up.var)) as connection:
                count = connection.execute("SELECT count(*) FROM tasks_app_worker").fetchone()[0]
            return count >= 2 or "Traceback" in up.printed()

        try:
            wait_for(workers_or_trouble, seconds=100, what="two workers")
        except AssertionError as late:
            raise AssertionError(f"{late}; what the stack printed:\n{up.printed()[-3000:]}") from None
        wait_for(up.answers, seconds=60, what="the pages")
        assert "ModuleNotFoundError" not in up.printed(), up.printed()[-3000:]
