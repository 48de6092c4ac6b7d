"""A Celery application whose slices do what their task's intent says: a stand-in for the executor, for lease tests.

``intent["does"]`` names what each epoch does, the last name for all later ones.
"""

import logging
import os
import re
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.celery import app
from tasks_app.decisions import Decision, complete
from tasks_app.registry import agent
from tasks_app.view import TaskView

__all__ = ["app"]


@agent("slice.work", version=1)
def work(view: TaskView) -> Decision:
    return complete()


@agent("slice.single", version=1, tasks_at_once=1)
def single(view: TaskView) -> Decision:
    return complete()


def slice_run(*, lease: Any, keeper: Any, drain: Callable[[], bool]) -> None:
    from tasks_app.models import Task

    intent = Task.objects.get(pk=lease.task).intent
    does = intent["does"][min(lease.token.epoch, len(intent["does"])) - 1]
    DOES[does](lease, keeper, drain, intent)


def finish(lease: Any, *_: Any) -> None:
    from tasks_app.models import Status
    from tasks_app.record.append import append
    from tasks_app.record.events import After, SliceReleased, TaskCompleted

    append(
        stream=lease.task,
        events=[TaskCompleted(criteria=0), SliceReleased(why="finished", worker=lease.holder)],
        actor=f"worker:{lease.holder}",
        token=lease.token,
        expected=lease.head_seq,
        task=RELEASED | {"status": Status.COMPLETED, "ended_at": After(0), "wake_at": None},
    )


def hand_over(lease: Any) -> None:
    from tasks_app.models import Status
    from tasks_app.record.append import append
    from tasks_app.record.events import After, SliceReleased
    from tasks_app.wake import wake

    append(
        stream=lease.task,
        events=[SliceReleased(why="handed over", worker=lease.holder)],
        actor=f"worker:{lease.holder}",
        token=lease.token,
        expected=lease.head_seq,
        task=RELEASED | {"status": Status.QUEUED, "wake_at": After(0)},
    )
    wake(lease.task)


def hold(lease: Any, keeper: Any, drain: Callable[[], bool], intent: dict[str, Any]) -> None:
    """Work until the file ``intent["gate"]`` exists; write down if the lease was lost meanwhile."""
    gate = Path(intent["gate"])
    while not gate.exists():
        if keeper.lost(lease):
            gate.with_suffix(f".lost-{lease.token.epoch}").touch()
            return
        if drain():
            hand_over(lease)
            return
        time.sleep(0.02)
    finish(lease)


def die(*_: Any) -> None:
    os._exit(137)


def last_words(*_: Any) -> None:
    for n in range(9):
        logging.getLogger("pump").warning("reading %s", n)
    logging.getLogger("pump").warning("the pump is getting hot")
    os._exit(137)


def starve(lease: Any, keeper: Any, drain: Any, intent: dict[str, Any]) -> None:
    """Keep the interpreter busy in C code, so that no other thread of this process runs, for ``seconds``."""
    until = time.monotonic() + intent["seconds"]
    while time.monotonic() < until:
        re.match(r"(a+)+$", "a" * 24 + "b")
    finish(lease)


def overdue(lease: Any, keeper: Any, *_: Any) -> None:
    """A tool that never returns, under a deadline of a second."""
    keeper.deadline(lease, time.monotonic() + 1.0)
    while True:
        re.match(r"(a+)+$", "a" * 24 + "b")


def abort(*_: Any) -> None:
    """Go on in a transaction that Postgres has aborted: an internal error, by the slice's own fault."""
    from django.db import DatabaseError, connection, transaction

    with transaction.atomic(), connection.cursor() as cursor:
        try:
            cursor.execute("SELECT 1 / 0")
        except DatabaseError:
            cursor.execute("SELECT 1")


def fail(*_: Any) -> None:
    raise ValueError("a mistake in the executor")


DOES: dict[str, Callable[..., None]] = {
    "abort": abort,
    "finish": finish,
    "hold": hold,
    "die": die,
    "last_words": last_words,
    "starve": starve,
    "overdue": overdue,
    "fail": fail,
}
RELEASED: dict[str, Any] = {"lease_holder": "", "lease_nonce": None, "lease_until": None, "wait": None}

if "celery" in Path(sys.argv[0]).parts or "celery" in sys.orig_argv:  # in a worker, not in the tests' own process
    stand_in = types.ModuleType("tasks_app.executor")
    stand_in.slice_run = slice_run  # type: ignore[attr-defined]
    sys.modules["tasks_app.executor"] = stand_in
