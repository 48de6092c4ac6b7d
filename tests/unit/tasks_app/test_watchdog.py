"""The watchdog wakes for the earliest deadline only, and misses none for that."""

import contextlib
import os
import subprocess
import sys
import threading
import time

import pytest

from tasks_app.runtime import watchdog
from tasks_app.runtime.watchdog import QUIET_SECONDS, DeadlinePassed, deadline_guard
from tests.processes import ROOT

MANY = """
import os, resource, time
most = 3000
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
held = [os.open("/dev/null", os.O_RDONLY) for _ in range(1200)]
from tasks_app.runtime.watchdog import DeadlinePassed, deadline_guard
for _ in range(2):
    try:
        with deadline_guard(time.monotonic() + 0.05):
            time.sleep(0.2)
            for _ in range(2000):
                time.sleep(0.01)
    except DeadlinePassed:
        print("cut", flush=True)
"""


def work(seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(0.001)


def spin(until: float) -> None:
    """Work without a pause, in a frame of its own: an interruption of a loop passes by the ``with`` around it."""
    while time.monotonic() < until:
        pass


def cut_after(seconds: float) -> float:
    """Return how long work of 20 s went on under a guard of so many seconds."""
    began = time.monotonic()
    with pytest.raises(DeadlinePassed), deadline_guard(began + seconds):
        work(20)
    return time.monotonic() - began


def passed_through(count: int) -> None:
    for _ in range(count):
        with deadline_guard(time.monotonic() + 30):
            pass


def test_a_short_deadline_after_long_ones_is_kept() -> None:
    passed_through(50)
    assert 0.05 <= cut_after(0.05) < 10


def test_a_deadline_is_kept_while_the_watchdog_rests_and_after_it_has_rested() -> None:
    passed_through(1)
    assert cut_after(0.01) < 10  # it still looks again by itself
    time.sleep(QUIET_SECONDS * 2.5)  # long enough for it to rest for good
    assert cut_after(0.01) < 10


def test_a_short_deadline_beside_a_long_one_of_another_thread_is_kept() -> None:
    over = threading.Event()

    def long() -> None:
        with deadline_guard(time.monotonic() + 60):
            over.wait(30)

    other = threading.Thread(target=long, daemon=True)
    other.start()
    try:
        assert cut_after(0.05) < 10
    finally:
        over.set()
        other.join(30)


def test_a_guard_that_was_left_interrupts_nobody() -> None:
    with contextlib.suppress(DeadlinePassed), deadline_guard(time.monotonic() + 0.05):
        pass  # cut in here only where a machine stands still for so long
    time.sleep(0.2)


def test_deadlines_that_pass_just_as_work_ends_leave_the_watchdog_able_to_cut() -> None:
    """The interruption may arrive anywhere in what leaves the guard: also there nothing may stay locked."""
    ends = time.monotonic() + 3
    number = 0
    while time.monotonic() < ends:
        number += 1
        until = time.monotonic() + 0.0003
        with contextlib.suppress(DeadlinePassed), deadline_guard(until):
            spin(until - 0.00003 * (number % 10))
    assert number > 100
    assert cut_after(0.05) < 10
    other: list[float] = []
    beside = threading.Thread(target=lambda: other.append(cut_after(0.05)), daemon=True)
    beside.start()
    beside.join(15)
    assert other
    assert other[0] < 10


def test_a_process_with_more_than_a_thousand_descriptors_is_cut_as_well() -> None:
    command = [sys.executable, "-c", MANY]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    assert done.stdout == "cut\ncut\n", done.stderr


def test_where_no_descriptor_was_left_the_next_call_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "_here", watchdog._Watch())
    with monkeypatch.context() as patch:
        patch.setattr(os, "pipe", none_left)
        with pytest.raises(OSError, match="none left"), deadline_guard(time.monotonic() + 60):
            pass
    assert cut_after(0.05) < 10


def none_left() -> tuple[int, int]:
    raise OSError("none left")
