"""Which code runs: the deployment's name for it, or else a digest of the files themselves."""

from pathlib import Path
from typing import Any

import pytest

from core import code


@pytest.fixture(autouse=True)
def _forgotten() -> None:
    code._of_files.cache_clear()


def test_the_deployments_own_name_for_its_code_wins(settings: Any) -> None:
    settings.CODE_DIGEST = "9fceb02"
    assert code.code_digest() == "9fceb02"


def test_without_a_name_the_files_are_digested_so_that_two_states_of_the_code_differ(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CODE_DIGEST = ""
    before = code.code_digest()
    assert len(before) == code.SHOWN
    changed, read = Path(settings.BASE_DIR) / "core" / "code.py", Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + (b"#" if path == changed else b""))
    assert code.code_digest() == before, "a process keeps the code that it began with"
    code._of_files.cache_clear()
    assert code.code_digest() != before
