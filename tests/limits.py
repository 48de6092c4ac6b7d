"""No test holds up a run without end: each of its phases has a limit, also after it has failed.

pytest-timeout stops its clock at a test's first failure, and raises only once: what a failed test still waits for, in
its own ``finally`` or in a fixture's teardown, had no limit. So teardown gets the test's limit anew. A phase that is
not over a while after its limit says where every thread stands; then the process that reports kills it with all that
it started, also where it was stopped and can do nothing itself. pytest-xdist says which test that was, and goes on in
another process.
"""

import faulthandler
import os
import threading
import time
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest
from pytest_timeout import _get_item_settings

from tests.processes import descendants, kill

GRACE = float(os.environ.get("HANDRAIL_TEST_GRACE", "60"))  # seconds beyond a test's limit
LOOK = 2.0  # seconds between two looks at what is beyond it
said = pytest.StashKey[int]()
ends = pytest.StashKey[threading.Event]()
notes = pytest.StashKey[Path]()  # where each process of this run notes until when its test may take


def pytest_configure(config: pytest.Config) -> None:
    """Keep standard error as it is now, before tests are captured; look after the run's processes where it reports."""
    config.stash[said] = os.dup(2)
    config.stash[ends] = threading.Event()
    config.stash[notes] = Path(os.environ["HANDRAIL_TEST_VAR"]) / "limits"  # now: a test may take the variable away
    if not hasattr(config, "workerinput"):
        config.stash[notes].mkdir(parents=True, exist_ok=True)
        threading.Thread(target=_look, args=[config], daemon=True).start()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Look no longer."""
    config.stash[ends].set()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Limit what fixtures do before a test."""
    return (yield from _limited(item))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Limit the test itself, what it does once its time is over among it."""
    return (yield from _limited(item))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Limit what fixtures do after a test; the clock of a test that failed stands still."""
    settings = _get_item_settings(item)
    if settings.timeout:
        item.ihook.pytest_timeout_set_timer(item=item, settings=settings)
    return (yield from _limited(item))


def _limited(item: pytest.Item) -> Generator[None, object, object]:
    limit = _get_item_settings(item).timeout
    if not limit:
        return (yield)
    note = item.config.stash[notes] / str(os.getpid())
    note.write_text(f"{time.time() + limit + GRACE + LOOK} {item.nodeid}")
    faulthandler.dump_traceback_later(limit + GRACE, file=item.config.stash[said])
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()
        note.unlink(missing_ok=True)


def _look(config: pytest.Config) -> None:
    while not config.stash[ends].wait(LOOK):
        for note in config.stash[notes].glob("*"):
            with suppress(OSError, ValueError):
                until, test = note.read_text().split(" ", 1)
                if time.time() > float(until):
                    note.unlink()
                    _end(int(note.name), test, config.stash[said])


def _end(pid: int, test: str, stderr: int) -> None:
    state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    os.write(stderr, f"\nended: {test}, its process {pid} in state {state}\n".encode())
    for each in (*descendants(pid), pid):
        kill(each)
