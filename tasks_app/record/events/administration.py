"""What can be said in the administration stream."""

from dataclasses import dataclass
from typing import Any, ClassVar

from tasks_app.record.events.base import Event, Json


@dataclass(frozen=True, kw_only=True)
class CredentialIssued(Event):
    """A credential was granted to one invocation for a call: once, until a moment; nothing is handed over yet."""

    KIND: ClassVar[str] = "credential.issued"
    name: str
    credential: str
    grant: str
    role: str  # the function of the contract
    attempt: int
    expires_at: str


@dataclass(frozen=True, kw_only=True)
class CredentialUsed(Event):
    """The granted credential was handed over, on a descriptor; the grant cannot be used again."""

    KIND: ClassVar[str] = "credential.used"
    name: str
    credential: str
    grant: str


@dataclass(frozen=True, kw_only=True)
class CredentialExpired(Event):
    """A grant ended unused: its time was over, or its worker died before it handed anything over."""

    KIND: ClassVar[str] = "credential.expired"
    name: str
    credential: str
    grant: str


@dataclass(frozen=True, kw_only=True)
class CredentialRevoked(Event):
    """A person revoked the credential while this grant of it was open; what held it was ended."""

    KIND: ClassVar[str] = "credential.revoked"
    name: str
    credential: str
    grant: str


@dataclass(frozen=True, kw_only=True)
class EgressConnected(Event):
    """A connection out of a sandbox, or one that was refused and why; bytes from it (sent) and to it (received)."""

    KIND: ClassVar[str] = "egress.connected"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"place", "refused"})
    name: str
    place: str
    address: str
    refused: str
    sent: int
    received: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Changed(Event):
    """Base of the administration events: the author is the actor, the difference is kept."""

    FOREIGN: ClassVar[frozenset[str]] = frozenset({"before", "after_change", "reason"})
    what: str
    before: Any = None
    after_change: Any = None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class PolicyChanged(Changed):
    """A policy rule was changed."""

    KIND: ClassVar[str] = "policy.changed"


@dataclass(frozen=True, kw_only=True)
class GrantChanged(Changed):
    """A standing grant was changed."""

    KIND: ClassVar[str] = "grant.changed"


@dataclass(frozen=True, kw_only=True)
class RoleChanged(Changed):
    """A person's role, or a token, was changed."""

    KIND: ClassVar[str] = "role.changed"


@dataclass(frozen=True, kw_only=True)
class SwitchChanged(Changed):
    """A stop switch was set or lifted."""

    KIND: ClassVar[str] = "switch.changed"


@dataclass(frozen=True, kw_only=True)
class CredentialChanged(Changed):
    """A credential was set, set anew or revoked; its value stands nowhere but sealed."""

    KIND: ClassVar[str] = "credential.changed"


@dataclass(frozen=True, kw_only=True)
class ScheduleChanged(Changed):
    """A schedule was set, changed or removed."""

    KIND: ClassVar[str] = "schedule.changed"


@dataclass(frozen=True, kw_only=True)
class ChannelChanged(Changed):
    """A way out for notifications, what goes by it, or when an alert is raised was changed; never address or secret."""

    KIND: ClassVar[str] = "channel.changed"


@dataclass(frozen=True, kw_only=True)
class DrillLaunched(Event):
    """A drill was launched: by whom is the actor; what it runs, and with which seed."""

    KIND: ClassVar[str] = "drill.launched"
    run: str
    suite: str
    seed: int
    selection: Json
    slot: str | None = None  # of the schedule that launched it: the moment it is for


@dataclass(frozen=True, kw_only=True)
class DrillEnded(Event):
    """A drill is over, and what it found."""

    KIND: ClassVar[str] = "drill.ended"
    run: str
    state: str  # ended, stopped, failed
    sentence: str
    exit_code: int | None = None


@dataclass(frozen=True, kw_only=True)
class DrillAlertSeen(Event):
    """Somebody has seen that a drill found a violation; the alert is gone for everybody."""

    KIND: ClassVar[str] = "drill.alert_seen"
    run: str
    suite: str


@dataclass(frozen=True, kw_only=True)
class WorkerDrainAsked(Event):
    """Somebody asked a worker to hand over what it holds and to end."""

    KIND: ClassVar[str] = "worker.drain_asked"
    FOREIGN: ClassVar[frozenset[str]] = frozenset({"reason"})
    worker: str
    host: str
    pid: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class RecordPurged(Event):
    """A whole terminal task past its age was removed after export; this is what stays of it."""

    KIND: ClassVar[str] = "record.purged"
    task: str
    last_seq: int
    head_digest: str
