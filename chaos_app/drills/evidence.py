"""What a case leaves behind: everything that the judge may look at, and nothing else. Pure: no Django.

Three sources that do not trust each other: the record (ours), the witness (the outside's), the fault log (the
controller's). Moments are seconds since 1970, UTC: of events by the database's clock, of the ledger by the witness's,
of marks by the controller's. ``clocks`` says how far these may be apart.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter

from chaos_app.drills.names import Fault, Klass, Proof, Stage, Verdict
from tasks_app.record.canonical import canonical_bytes

FORMAT = "handrail-drill-evidence/1"
Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class CellRef:
    """The case: which cell of the table (``cells``), and which passage over it (``hit``; 0: the last)."""

    id: str
    row: str  # of the boundary table: "E04"
    position: str  # of core.boundaries.Position, or "situation"
    klass: Klass
    fault: Fault
    workload: str
    hit: int = 1


@dataclass(frozen=True, kw_only=True)
class Event:
    """One stored event, with its large values read back."""

    seq: int
    kind: str
    data: Json
    at: float
    epoch: int | None = None
    actor: str = ""


@dataclass(frozen=True, kw_only=True)
class LateWrite:
    """A write that was refused because its worker had lost the task."""

    at: float
    kind: str
    presented_epoch: int
    actor: str = ""
    data: Json = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class TaskRecord:
    """One task of the case as the database holds it at the end. ``role``: "task", or the child's name.

    ``lease_live``: a worker holds it and its lease has not run out. ``losses`` as the row has them at the end.
    ``chain``: what is wrong with the digest chain, a sentence each; empty where it is intact (S11).
    """

    task: str
    role: str
    status: str
    events: tuple[Event, ...]
    wait: Json | None = None
    lease_live: bool = False
    losses: int = 0
    loss_limit: int = 3
    owner: str = ""
    head_seq: int = 0
    late_writes: tuple[LateWrite, ...] = ()
    chain: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """One request as the witness counted it: ``acts`` False is a look-up. ``applied_at`` None: nothing was applied."""

    id: int
    at: float
    system: str
    operation: str
    acts: bool
    key: str | None = None
    call: str | None = None  # "TASK/NAME"
    attempt: int | None = None
    business_key: str | None = None
    status: int | None = None
    ended: str | None = None
    ended_at: float | None = None
    applied_at: float | None = None
    replayed: bool = False
    fault: str | None = None


@dataclass(frozen=True, kw_only=True)
class Effect:
    """One effect as the witness counted it. ``planted`` ones were made by the fault and are not counted."""

    at: float
    system: str
    operation: str
    reference: str
    key: str | None = None
    call: str | None = None
    business_key: str | None = None
    item: str | None = None
    arguments: Any = None  # None: this target does not keep them in the form of the call's arguments
    arrival: int | None = None
    planted: bool = False
    late: bool = False


@dataclass(frozen=True, kw_only=True)
class Witness:
    """The outside count, restricted to this case's tasks. ``present`` False: the target has none (INCONCLUSIVE).

    ``outside_worker``: written by another process than the worker (H3). ``gaps``: times at which it was not alive
    (H4), other than those that the case's own fault made.
    """

    arrivals: tuple[Arrival, ...] = ()
    effects: tuple[Effect, ...] = ()
    disagreements: tuple[str, ...] = ()
    present: bool = True
    outside_worker: bool = True
    gaps: tuple[str, ...] = ()
    source: str = "world"  # world, recording proxy, ledger()


@dataclass(frozen=True, kw_only=True)
class Mark:
    """One thing that the controller did or saw about a fault."""

    stage: Stage
    at: float
    what: str = ""  # in plain words, for people
    pid: int | None = None
    epoch: int | None = None  # of the victim
    exit_status: str | None = None  # "killed by SIGKILL", "exit 0"
    proof: Proof | None = None  # of LANDED


@dataclass(frozen=True, kw_only=True)
class FaultLog:
    """One fault of the case, from its plan to its proof. A case has one, or two (the second after the takeover)."""

    row: str
    position: str
    fault: Fault
    hit: int = 1
    task: str = ""
    call: str | None = None
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Lane:
    """One worker of the case: a lane on the time axis."""

    worker: str
    pid: int | None = None
    epochs: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Passed:
    """One crossing that a process of the drill reported."""

    at: float
    boundary: str
    position: str
    pid: int
    call: str | None = None
    epoch: int | None = None


@dataclass(frozen=True, kw_only=True)
class Note:
    """One thing that an unprotected executor did."""

    at: float
    who: str
    what: str


@dataclass(frozen=True, kw_only=True)
class Control:
    """A run that the case is compared with.

    kind "twin": the same without the fault (H2). kind "unprotected": the same fault against an executor that protects
    nothing. ``effects`` counts by call name; ``statuses`` by role; ``digest`` is that of its own evidence.
    """

    kind: str
    end: Verdict
    statuses: Mapping[str, str] = field(default_factory=dict)
    effects: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    witness: Witness = field(default_factory=Witness)
    digest: str = ""


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What the workload declares and the run was bound to. Seconds."""

    end: Verdict = Verdict.ONCE  # ONCE or NONE
    statuses: Mapping[str, str] = field(default_factory=lambda: {"task": "completed"})  # role -> status of the twin
    items: Mapping[str, int] = field(default_factory=dict)  # call name -> effects it has, where not 1
    drilled: str = ""  # the call that the case is about
    takeover_seconds: float = 10.0  # from the landed fault to the next claim
    settled_seconds: float = 60.0  # from the landed fault to the drilled call's settling
    clocks: float = 0.05  # how far the clocks of database, witness and controller may be apart
    assumptions: Mapping[str, str] = field(default_factory=dict)  # "key retention" -> "86400 s", "lag" -> "1 s"


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """One case, whole. ``rules``: digests of what the resume rules decided, one a fresh process (S12)."""

    cell: CellRef
    run: str
    seed: int
    began: float
    ended: float
    tasks: tuple[TaskRecord, ...]
    witness: Witness
    faults: tuple[FaultLog, ...] = ()
    lanes: tuple[Lane, ...] = ()
    crossings: tuple[Passed, ...] = ()
    controls: tuple[Control, ...] = ()
    expected: Expected = field(default_factory=Expected)
    versions: Mapping[str, str] = field(default_factory=dict)
    rules: tuple[str, ...] = ()
    quiet: bool = True  # False: the time was over before nothing moved any more
    command: str = ""  # to run it again
    repeat: int = 0  # 1: the one automatic repeat
    planted_bug: str = ""  # the bug that was built in on purpose; "" for the product as it is
    format: str = FORMAT


_ADAPTER = TypeAdapter(Evidence)


def evidence_dump(evidence: Evidence) -> Json:
    """Return the evidence as JSON values; ``evidence_load`` gives it back equal."""
    dumped: Json = _ADAPTER.dump_python(evidence, mode="json")
    return dumped


def evidence_load(stored: Mapping[str, Any]) -> Evidence:
    """Return stored evidence. Raises pydantic.ValidationError (a ValueError) for what is none."""
    if stored.get("format") != FORMAT:
        raise ValueError(f"This is not drill evidence of the form {FORMAT}.")
    return _ADAPTER.validate_python(dict(stored))


def evidence_digest(evidence: Evidence) -> str:
    """Return the SHA-256 (hex) of the evidence in its canonical form."""
    return hashlib.sha256(canonical_bytes(evidence_dump(evidence))).hexdigest()
