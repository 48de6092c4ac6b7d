"""What can be said of waits, signals and children."""

from dataclasses import dataclass
from typing import Any, ClassVar

from tasks_app.record.events.base import Event, Moment


@dataclass(frozen=True, kw_only=True)
class WaitStarted(Event):
    """The task waits: no worker and no message is held meanwhile."""

    KIND: ClassVar[str] = "wait.started"
    kind: str  # timer, signal, child, approval, limit, worker_version, look_up, stop, work, outside
    step: int
    name: str | None = None  # of the wait as the agent calls it
    on: Any = None  # signal name, child task, call names, limit
    until: Moment | None = None


@dataclass(frozen=True, kw_only=True)
class WaitEnded(Event):
    """The wait is over, and why."""

    KIND: ClassVar[str] = "wait.ended"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"value"})
    kind: str
    name: str | None = None
    why: str = ""  # due, signal, child, timeout
    value: Any = None
    signal_seq: int | None = None


@dataclass(frozen=True, kw_only=True)
class SignalReceived(Event):
    """A signal arrived; it is kept until a wait takes it."""

    KIND: ClassVar[str] = "signal.received"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"payload"})
    name: str
    payload: Any = None
    request_key: str | None = None


@dataclass(frozen=True, kw_only=True)
class ChildSpawned(Event):
    """A child task was created in the transaction that records it."""

    KIND: ClassVar[str] = "child.spawned"
    name: str
    child: str
    agent: str
    step: int


@dataclass(frozen=True, kw_only=True)
class ChildSettled(Event):
    """A child ended; appended by the parent's own slice."""

    KIND: ClassVar[str] = "child.settled"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"summary"})
    name: str
    child: str
    status: str
    summary: str | None = None
