"""A keeper ends the sandboxes that it was told of, each at its deadline and not before."""

import selectors
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tasks_app.keeper.sandboxes import Sandboxes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="pidfds are Linux's")


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    made = subprocess.Popen(["sleep", "60"])
    yield made
    made.kill()
    made.wait()


def test_it_is_killed_at_its_deadline_and_not_before(process: subprocess.Popen[bytes]) -> None:
    with selectors.DefaultSelector() as selector:
        kept = Sandboxes(selector)
        kept.watch(process.pid, until=100.0)
        kept.end_overdue(now=99.9)
        assert process.poll() is None
        kept.end_overdue(now=100.0)
        assert process.wait(5) == -9
        for key, _ in selector.select(5):
            key.data()  # its end was seen
        assert not selector.get_map()


def test_the_deadline_of_the_call_takes_the_place_of_that_of_the_wait(process: subprocess.Popen[bytes]) -> None:
    with selectors.DefaultSelector() as selector:
        kept = Sandboxes(selector)
        kept.watch(process.pid, until=100.0)  # while it waits
        kept.watch(process.pid, until=200.0)  # once it has a call
        kept.end_overdue(now=150.0)
        assert process.poll() is None
        kept.end_overdue(now=200.0)
        assert process.wait(5) == -9
