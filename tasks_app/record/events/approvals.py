"""What can be said of an approval; the rules are those of the approvals application."""

from dataclasses import dataclass
from typing import ClassVar

from tasks_app.record.events.base import Event, Json, Moment


@dataclass(frozen=True, kw_only=True)
class ApprovalRequested(Event):
    """A person must decide this call."""

    KIND: ClassVar[str] = "approval.requested"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"line", "reason"})
    approval: str
    name: str
    digest: str
    group: str
    line: str  # what will happen, in one line
    policy: Json
    decide_by: Moment | None = None
    run_within: float | None = None  # seconds between decision and use
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class ApprovalAnswered(Event):
    """One person of several answered; the quorum is not reached by this alone, or ``approval.decided`` follows."""

    KIND: ClassVar[str] = "approval.answered"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"reason"})
    approval: str
    name: str
    digest: str
    answer: str  # approved, denied
    by: str
    reason: str
    via: str
    so_far: int  # answers that count, this one included
    quorum: int


@dataclass(frozen=True, kw_only=True)
class ApprovalEscalated(Event):
    """Nobody decided in time: another group is asked, with a deadline of its own."""

    KIND: ClassVar[str] = "approval.escalated"
    approval: str
    name: str
    from_group: str
    group: str
    decide_by: Moment | None = None


@dataclass(frozen=True, kw_only=True)
class ApprovalOverdue(Event):
    """Nobody decided in time, and the rule says to keep waiting; nothing is allowed by it."""

    KIND: ClassVar[str] = "approval.overdue"
    approval: str
    name: str


@dataclass(frozen=True, kw_only=True)
class ApprovalDecided(Event):
    """Decided once: approved or denied, by whom, on which digest."""

    KIND: ClassVar[str] = "approval.decided"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"reason"})
    approval: str
    name: str
    digest: str
    decision: str  # approved, denied
    by: str
    reason: str
    via: str  # page, api, command, grant
    run_by: Moment | None = None
    grant: str | None = None  # the standing grant that answered


@dataclass(frozen=True, kw_only=True)
class ApprovalExpired(Event):
    """Nobody decided in time; never allowed."""

    KIND: ClassVar[str] = "approval.expired"
    approval: str
    name: str


@dataclass(frozen=True, kw_only=True)
class ApprovalLapsed(Event):
    """Approved, but the must-run-by has passed unused."""

    KIND: ClassVar[str] = "approval.lapsed"
    approval: str
    name: str


@dataclass(frozen=True, kw_only=True)
class ApprovalConsumed(Event):
    """Used, once, in the transaction of the first attempt (T1)."""

    KIND: ClassVar[str] = "approval.consumed"
    approval: str
    name: str
    digest: str
    grant: str | None = None


@dataclass(frozen=True, kw_only=True)
class ApprovalVoided(Event):
    """No longer valid: task cancelled, tool changed, call edited, policy became stricter."""

    KIND: ClassVar[str] = "approval.voided"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"reason"})
    approval: str
    name: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class ApprovalRevoked(Event):
    """A person took an unused approval back."""

    KIND: ClassVar[str] = "approval.revoked"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"reason"})
    approval: str
    name: str
    by: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class ApprovalReopened(Event):
    """A person lets a denied call be proposed again; without it the same proposal is refused."""

    KIND: ClassVar[str] = "approval.reopened"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"reason"})
    approval: str
    name: str
    by: str
    reason: str
