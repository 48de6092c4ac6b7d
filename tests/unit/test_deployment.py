"""The deployment guide and its files say what is true of the program."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from core.procfile import commands
from tests.processes import ROOT

DOCS = ROOT / "docs"
VARIABLES = {"HOST": "h", "PORT": "p", "POOL": "prefork", "CONCURRENCY": "4"}
UNITS = sorted((DOCS / "systemd").glob("*.service"))


def words(command: str) -> list[str]:
    """Return the words that must not differ between two ways of starting the same process."""
    found = command.replace('"', "").split()
    program = next(index for index, word in enumerate(found) if word in {"-m", "manage.py"})
    kept = [word for word in found[program:] if not word.startswith("worker") and word not in {"-n", "worker"}]
    return [word for word in kept if word not in {"h", "p", "%i", "127.0.0.1", "0.0.0.0", "8000", "--host", "--port"}]


def table(name: str) -> list[str]:
    return words(" ".join(commands((ROOT / "Procfile").read_text(), VARIABLES)[name]))


@pytest.mark.parametrize(
    ("unit", "program"), [("handrail-web@", "web"), ("handrail-worker@", "worker-1"), ("handrail-sweeper", "sweeper")]
)
def test_a_unit_starts_what_the_process_table_starts(unit: str, program: str):
    text = (DOCS / "systemd" / f"{unit}.service").read_text()
    started = re.search(r"^ExecStart=\S+python (.*)$", text, re.M)
    assert started is not None
    assert words(started[1]) == table(program)


def test_the_containers_start_what_the_process_table_starts():
    services = yaml.safe_load((DOCS / "compose.yaml").read_text())["services"]
    image = re.search(r"^CMD \[(.*)\]$", (DOCS / "Dockerfile").read_text(), re.M)
    assert image is not None
    assert words(image[1].replace(",", " ")) == table("web")
    assert words(" ".join(services["worker"]["command"])) == table("worker-1")
    assert words(" ".join(services["sweeper"]["command"])) == table("sweeper")
    assert set(services["web"]["depends_on"]) == {"migrate"}
    owners = [name for name, one in services.items() if "DATABASE_OWNER_URL" in (one.get("environment") or {})]
    assert owners == ["migrate"]  # no process that runs all day may change the record


@pytest.mark.parametrize("path", [*UNITS, *(path for path in DOCS.iterdir() if path.is_file())], ids=lambda p: p.name)
def test_every_variable_that_is_named_is_one_that_is_read(path: Path):
    read = "".join(file.read_text() for folder in ("core", "tasks_app") for file in (ROOT / folder).rglob("*.py"))
    named = set(re.findall(r"\b(?:HANDRAIL|PROMETHEUS|OTEL)_[A-Z_]+[A-Z]\b", path.read_text()))
    assert {name for name in named if name not in read} == set()


def test_every_variable_of_the_environment_file_is_one_that_is_read():
    settings = (ROOT / "core" / "settings.py").read_text() + (ROOT / "core" / "metrics.py").read_text()
    lines = (DOCS / "systemd" / "handrail.env").read_text().splitlines()
    named = {line.partition("=")[0] for line in lines if line and not line.startswith("#")}
    assert {name for name in named - {"DJANGO_SETTINGS_MODULE"} if name not in settings} == set()


def test_every_figure_to_be_woken_for_exists():
    told = "".join((ROOT / app / "selectors" / "gauges.py").read_text() for app in ("tasks_app", "approvals_app"))
    told += (ROOT / "core" / "metrics_page.py").read_text()
    named = set(re.findall(r"`(handrail_[a-z_]+)", (DOCS / "deployment.md").read_text()))
    assert named
    assert {name for name in named if f'"{name}"' not in told} == set()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
def test_the_units_are_valid(tmp_path: Path):
    for unit in UNITS:
        text = re.sub(r"^(ExecStart=)\S+", r"\1/bin/true", unit.read_text(), flags=re.M)
        (tmp_path / unit.name.replace("@", "@1")).write_text(text)
    found = subprocess.run(
        ["systemd-analyze", "verify", *tmp_path.glob("*.service")], capture_output=True, text=True, timeout=60
    )
    assert "Unknown" not in found.stderr
