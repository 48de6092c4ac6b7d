"""No test holds up a run without end: each of its phases has a limit, also after it has failed.

pytest-timeout stops its clock at a test's first failure, and raises only once: what a failed test still waits for, in
its own ``finally`` or in a fixture's teardown, had no limit. So teardown gets the test's limit anew, and a phase that
is not over a while after its limit ends its process, with a traceback of every thread; pytest-xdist then says which
test that was, and goes on in another process.
"""

import faulthandler
import os
from collections.abc import Generator

import pytest
from pytest_timeout import _get_item_settings

GRACE = float(os.environ.get("HANDRAIL_TEST_GRACE", "60"))  # seconds beyond a test's limit
said = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    """Keep standard error as it is now, before tests are captured."""
    config.stash[said] = os.dup(2)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Give it back."""
    os.close(config.stash[said])


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
    if limit:
        faulthandler.dump_traceback_later(limit + GRACE, exit=True, file=item.config.stash[said])
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()
