"""What can be said of a task: made, moved, stopped, ended."""

from dataclasses import dataclass
from typing import Any, ClassVar

from tasks_app.record.events.base import Event, Json


@dataclass(frozen=True, kw_only=True)
class TaskCreated(Event):
    """A task exists: its intent, agent, criteria, budget and owner are fixed."""

    KIND: ClassVar[str] = "task.created"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"intent", "title", "labels"})
    workspace: str
    owner: str
    agent: str
    agent_version: int
    code_digest: str
    title: str
    intent: Json
    done_when: list[Json]
    labels: Json
    budget: Json
    parent: str | None = None
    copied_from: Json | None = None  # task, seq, step, state: the copy starts there


@dataclass(frozen=True, kw_only=True)
class TaskPaused(Event):
    """An operator paused the task; look-ups go on, no attempt is made."""

    KIND: ClassVar[str] = "task.paused"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"reason"})
    reason: str


@dataclass(frozen=True, kw_only=True)
class TaskResumed(Event):
    """An operator let the task go on: after a pause, a quarantine, or to check again.

    ``to``: paused or cancelling, where a task that was quarantined in that state returns to it.
    """

    KIND: ClassVar[str] = "task.resumed"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"reason"})
    reason: str
    after: str  # paused, quarantined, unverified
    to: str | None = None


@dataclass(frozen=True, kw_only=True)
class TaskMoved(Event):
    """An operator moved the task to another version of its agent."""

    KIND: ClassVar[str] = "task.moved"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"reason"})
    from_version: int
    to_version: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class TaskCancelRequested(Event):
    """Somebody asked to cancel: nothing further starts; open attempts are settled first."""

    KIND: ClassVar[str] = "task.cancel_requested"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"reason"})
    reason: str


@dataclass(frozen=True, kw_only=True)
class TaskCancelled(Event):
    """Terminal: cancelled, no attempt is open."""

    KIND: ClassVar[str] = "task.cancelled"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"reason"})
    reason: str


@dataclass(frozen=True, kw_only=True)
class TaskFailed(Event):
    """Terminal: the agent gave up, a budget ran out, or three decisions in a row could not be carried out."""

    KIND: ClassVar[str] = "task.failed"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"reason"})
    cause: str  # agent, budget, bad_decisions
    reason: str


@dataclass(frozen=True, kw_only=True)
class TaskQuarantined(Event):
    """Stopped after lost workers at one place; an operator releases it."""

    KIND: ClassVar[str] = "task.quarantined"
    place: str
    losses: int


@dataclass(frozen=True, kw_only=True)
class TaskClaimedComplete(Event):
    """The agent claims to be done; nothing is believed yet."""

    KIND: ClassVar[str] = "task.claimed_complete"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"summary", "claims"})
    summary: str
    claims: list[Json]


@dataclass(frozen=True, kw_only=True)
class EvidenceObserved(Event):
    """A criterion was checked against the world."""

    KIND: ClassVar[str] = "evidence.observed"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"expected", "seen", "details"})
    criterion: str
    holds: bool
    expected: Any
    seen: Any
    source: str  # done_when, intent, call, claim
    how: str  # checked, answered (no read-back), settled by NAME
    details: Json | None = None


@dataclass(frozen=True, kw_only=True)
class TaskCompleted(Event):
    """Terminal: all criteria hold."""

    KIND: ClassVar[str] = "task.completed"
    criteria: int


@dataclass(frozen=True, kw_only=True)
class TaskUnverified(Event):
    """A criterion does not hold, or there is none. Not terminal: check again, or cancel."""

    KIND: ClassVar[str] = "task.unverified"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"missing"})
    missing: list[Json]  # criterion, expected, seen


@dataclass(frozen=True, kw_only=True)
class EvidenceGone(Event):
    """A completed task was checked again, and a criterion no longer holds."""

    KIND: ClassVar[str] = "evidence.gone"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"missing"})
    missing: list[Json]
