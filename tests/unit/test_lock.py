"""The lock files hold every dependency that is declared, by hash, and no address."""

import re
import tomllib

import pytest
from packaging.requirements import Requirement

from tests.processes import ROOT

DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text())


def locked(name):
    """The versions in a lock file, by package."""
    pairs = re.findall(r"^([\w.-]+)==(\S+)", (ROOT / name).read_text(), re.M)
    return {package.lower().replace("_", "-"): version for package, version in pairs}


@pytest.mark.parametrize(
    ("lock", "wanted"),
    [
        ("requirements.lock", DECLARED["project"]["dependencies"]),
        ("requirements-dev.lock", DECLARED["project"]["dependencies"] + DECLARED["dependency-groups"]["dev"]),
    ],
)
def test_every_declared_dependency_is_locked_at_a_version_that_fits(lock, wanted):
    versions = locked(lock)
    for line in wanted:
        requirement = Requirement(line)
        name = requirement.name.lower().replace("_", "-")
        assert name in versions, f"{name} is declared and not in {lock}: run make lock"
        assert requirement.specifier.contains(versions[name], prereleases=True), f"{name}: run make lock"


def test_both_lock_files_agree():
    run, dev = locked("requirements.lock"), locked("requirements-dev.lock")
    assert {name: dev.get(name) for name in run} == run


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_a_lock_file_names_no_address_and_hashes_everything(lock):
    text = (ROOT / lock).read_text()
    assert "://" not in text
    assert "--index" not in text
    for entry in re.split(r"\n(?=\S)", text.strip()):
        assert "--hash=sha256:" in entry, entry
