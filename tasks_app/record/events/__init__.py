"""The event vocabulary: what can be said in a record. Open this package first.

Past tense, versioned, one frozen dataclass each; the docstring is the published meaning. Pure: no Django.
A field of type ``Moment`` is written as ``After(seconds)`` and resolved by the append statement, with the
database's clock, to an ISO timestamp; that is how ``send_by`` and ``deadline`` are database times.
Fields named in ``FOREIGN`` hold text from agents, tools and people: they are masked, then normalised,
before they are written. All other fields are our own words, ids and digests.
"""

from collections.abc import Mapping
from typing import Any

from tasks_app.record.events.administration import (
    Changed,
    ChannelChanged,
    CredentialChanged,
    CredentialExpired,
    CredentialIssued,
    CredentialRevoked,
    CredentialUsed,
    DrillAlertSeen,
    DrillEnded,
    DrillLaunched,
    EgressConnected,
    GrantChanged,
    PolicyChanged,
    RecordPurged,
    RoleChanged,
    ScheduleChanged,
    SwitchChanged,
    WorkerDrainAsked,
)
from tasks_app.record.events.approvals import (
    ApprovalAnswered,
    ApprovalConsumed,
    ApprovalDecided,
    ApprovalEscalated,
    ApprovalExpired,
    ApprovalLapsed,
    ApprovalOverdue,
    ApprovalReopened,
    ApprovalRequested,
    ApprovalRevoked,
    ApprovalVoided,
)
from tasks_app.record.events.base import After, Event, Json, Moment, field_names
from tasks_app.record.events.calls import (
    CallAttempted,
    CallInDoubt,
    CallIntended,
    CallLateReceipt,
    CallObserved,
    CallOutcome,
    CallRepeatAllowed,
    CallResumeDecided,
    CallSettled,
    CallVerified,
    CallWithdrawn,
    CheckpointAdvanced,
    ContextSelected,
    StepDecided,
)
from tasks_app.record.events.slices import SliceClaimed, SliceLost, SliceReleased
from tasks_app.record.events.tasks import (
    EvidenceGone,
    EvidenceObserved,
    TaskCancelled,
    TaskCancelRequested,
    TaskClaimedComplete,
    TaskCompleted,
    TaskCreated,
    TaskFailed,
    TaskMoved,
    TaskPaused,
    TaskQuarantined,
    TaskResumed,
    TaskUnverified,
)
from tasks_app.record.events.waits import ChildSettled, ChildSpawned, SignalReceived, WaitEnded, WaitStarted

__all__ = [
    "KINDS",
    "After",
    "ApprovalAnswered",
    "ApprovalConsumed",
    "ApprovalDecided",
    "ApprovalEscalated",
    "ApprovalExpired",
    "ApprovalLapsed",
    "ApprovalOverdue",
    "ApprovalReopened",
    "ApprovalRequested",
    "ApprovalRevoked",
    "ApprovalVoided",
    "CallAttempted",
    "CallInDoubt",
    "CallIntended",
    "CallLateReceipt",
    "CallObserved",
    "CallOutcome",
    "CallRepeatAllowed",
    "CallResumeDecided",
    "CallSettled",
    "CallVerified",
    "CallWithdrawn",
    "Changed",
    "ChannelChanged",
    "CheckpointAdvanced",
    "ChildSettled",
    "ChildSpawned",
    "ContextSelected",
    "CredentialChanged",
    "CredentialExpired",
    "CredentialIssued",
    "CredentialRevoked",
    "CredentialUsed",
    "DrillAlertSeen",
    "DrillEnded",
    "DrillLaunched",
    "EgressConnected",
    "Event",
    "EvidenceGone",
    "EvidenceObserved",
    "GrantChanged",
    "Json",
    "Moment",
    "PolicyChanged",
    "RecordPurged",
    "RoleChanged",
    "ScheduleChanged",
    "SignalReceived",
    "SliceClaimed",
    "SliceLost",
    "SliceReleased",
    "StepDecided",
    "SwitchChanged",
    "TaskCancelRequested",
    "TaskCancelled",
    "TaskClaimedComplete",
    "TaskCompleted",
    "TaskCreated",
    "TaskFailed",
    "TaskMoved",
    "TaskPaused",
    "TaskQuarantined",
    "TaskResumed",
    "TaskUnverified",
    "WaitEnded",
    "WaitStarted",
    "WorkerDrainAsked",
    "from_row",
]


def _subclasses(root: type[Event]) -> list[type[Event]]:
    return [leaf for child in root.__subclasses__() for leaf in [child, *_subclasses(child)]]


KINDS: dict[str, type[Event]] = {cls.KIND: cls for cls in _subclasses(Event) if cls.KIND}


def from_row(kind: str, data: Mapping[str, Any]) -> Event:
    """Rebuild an event from its stored kind and data; fields of newer versions are left aside."""
    cls = KINDS[kind]
    known = field_names(cls)
    return cls(**{name: value for name, value in data.items() if name in known})
