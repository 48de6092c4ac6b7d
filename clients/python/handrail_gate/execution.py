"""What a running function may know of its call, and what it may say of its outcome."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any


class NoEffect(Exception):
    """Raise it from the function where there is definitely no effect (refused, not found): reported as failed.

    Any other exception is reported as unknown: after an error in between, nobody can tell.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """Return it from the function to name the effect in the outside system: ``Done(result=..., reference="pay-7")``."""

    result: Any = None
    reference: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """The right to run one call once. Times are of ``time.monotonic()``, in seconds.

    ``key``: send it along as the idempotency key where the outside system takes one.
    """

    task: str
    call: str
    arguments: dict[str, Any]
    digest: str
    key: str
    begin_by: float
    deadline: float
    token: str = field(repr=False)

    @property
    def seconds_left(self) -> float:
        """How long the function may still take: what it does later may be settled by a person meanwhile."""
        return max(self.deadline - time.monotonic(), 0.0)


_current: ContextVar[Execution | None] = ContextVar("handrail_gate_execution", default=None)


def current() -> Execution:
    """Return the execution that this code runs under. Raises LookupError outside of one."""
    found = _current.get()
    if found is None:
        raise LookupError("This code does not run under the gate.")
    return found


@contextmanager
def under(execution: Execution) -> Iterator[None]:
    """Let ``current()`` name this execution."""
    mark = _current.set(execution)
    try:
        yield
    finally:
        _current.reset(mark)
