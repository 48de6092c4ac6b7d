"""The product with one guarantee taken out, in workers that a drill has started for this and in no other process.

``HANDRAIL_MODULES`` names this module for those workers alone. A task whose intent names a bug is run with it; each of
them must be found by the judge (H5).
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

from chaos_app.drills.bug_names import (
    AGAIN,
    ASSUME_DONE,
    ENABLED,
    NEW_KEY,
    NO_TOKEN,
    NO_WAIT,
    NOT_LOOKED,
    SIBLING,
    TWICE,
)
from chaos_app.injector.report import SOCKET
from tasks_app import tasks
from tasks_app.contracts import Absent, Contract, Found, LookUp, Observed
from tasks_app.models import Event, Task
from tasks_app.record import append
from tasks_app.record.events import ApprovalConsumed
from tasks_app.resume import Do, Move
from tasks_app.runtime import attempting, calling, driving, intending, reading_back, running
from tasks_app.runtime.batch import Inside
from tasks_app.runtime.ready import Ready
from tasks_app.runtime.session import Session
from tasks_app.status import CallState

_now = {"bug": ""}  # of the slice that this process runs; a process of a prefork pool runs one at a time


def has(bug: str) -> bool:
    """Whether the present task is run with this bug."""
    return _now["bug"] == bug


@contextmanager
def _of(task: UUID) -> Iterator[None]:
    intent = Task.objects.values_list("intent", flat=True).get(pk=task)
    _now["bug"] = intent.get("bug", "")
    try:
        yield
    finally:
        _now["bug"] = ""


def _wrap(module: Any, name: str, make: Callable[[Any], Callable[..., Any]]) -> None:
    setattr(module, name, make(getattr(module, name)))


def _slice(real: Callable[..., None]) -> Callable[..., None]:
    def run(*, lease: Any, **more: Any) -> None:
        with _of(lease.task):
            real(lease=lease, **more)

    return run


def _other_key(real: Callable[..., Ready]) -> Callable[..., Ready]:
    def ready(session: Session, row: Any, *args: Any, **more: Any) -> Ready:
        made = real(session, row, *args, **more)
        if has(NEW_KEY) and made.context.attempt > 1:
            return replace(made, context=replace(made.context, key=f"hr-{uuid4().hex}"))
        return made

    return ready


def _decide(real: Callable[..., Move]) -> Callable[..., Move]:
    def decide(call: Any, now: Any) -> Move:
        open_attempt = call.state in {CallState.ATTEMPTED, CallState.UNKNOWN}
        if has(ASSUME_DONE) and open_attempt:
            return Move(do=Do.VERIFY, rule="E02", reason="It was begun, so it is done.")
        if has(NO_WAIT) and open_attempt:
            return real(replace(call, deadline=None, next_look_at=None), now)
        return real(call, now)

    return decide


def _statement(real: Callable[..., str]) -> Callable[..., str]:
    def statement(shape: Any) -> str:
        text = real(shape)
        return re.sub("THEN '(fenced|expired)'", r"AND false THEN '\1'", text) if has(NO_TOKEN) else text

    return statement


def _consume_again(real: Callable[..., Callable[[], Inside]]) -> Callable[..., Callable[[], Inside]]:
    def t1(session: Session, row: Any, contract: Contract) -> Callable[[], Inside]:
        inside = real(session, row, contract)

        def again() -> Inside:
            found = inside()
            if not has(TWICE) or found.before:
                return found
            used = Event.objects.filter(stream=session.lease.task, kind="approval.consumed").first()
            return Inside(before=[ApprovalConsumed(**used.data)]) if used else found

        return again

    return t1


def _believe(real: Callable[..., Observed]) -> Callable[..., Observed]:
    def verify(*args: Any) -> Observed:
        return Observed(matches=True) if has(NOT_LOOKED) or has(SIBLING) else real(*args)

    return verify


def _unbound(real: Callable[..., Any]) -> Callable[..., Any]:
    def change(self: Any, *args: Any, **more: Any) -> Any:
        made = real(self, *args, **more)
        return replace(made, set={**made.set, "holds_business_key": False}) if has(AGAIN) else made

    return change


def _unheld(real: Callable[..., None]) -> Callable[..., None]:
    def refuse(*args: Any) -> None:
        if not has(AGAIN):
            real(*args)

    return refuse


def _values(real: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    def values(*args: Any) -> dict[str, Any]:
        found = real(*args)
        return found | {"holds_business_key": False} if has(AGAIN) else found

    return values


def _any_sibling(real: Callable[..., LookUp]) -> Callable[..., LookUp]:
    def find(contract: Contract, key: str) -> LookUp:
        found = real(contract, key)
        if not has(SIBLING) or not isinstance(found, Absent):
            return found
        start, step, ordinal = key.rsplit("-", 2)
        for earlier in range(int(step) - 1, 0, -1):
            other = real(contract, f"{start}-{earlier}-{ordinal}")
            if isinstance(other, Found):
                return replace(other, arguments=None)
        return found

    return find


def plant() -> None:
    """Take the guarantees out, each for the tasks that name it. Raises RuntimeError outside of a drill's process."""
    if not os.environ.get(SOCKET) or not os.environ.get(ENABLED):
        raise RuntimeError("Bugs are planted in processes that a drill has started for this, and nowhere else.")
    _wrap(tasks, "slice_run", _slice)
    for module in (attempting, calling, driving):
        _wrap(module, "ready_make", _other_key)
    _wrap(driving, "decide", _decide)
    _wrap(append, "statement", _statement)
    _wrap(attempting, "_t1", _consume_again)
    _wrap(reading_back, "verify_act", _believe)
    _wrap(intending.Intended, "change", _unbound)
    _wrap(intending, "_refuse_held", _unheld)
    _wrap(running, "outcome_values", _values)
    _wrap(driving, "find_act", _any_sibling)


if os.environ.get(ENABLED):
    plant()
