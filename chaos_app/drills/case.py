"""One case, from its plan to its evidence: arm, wait, strike, let a replacement run to the end, collect."""

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

from chaos_app.drills.barrier import Hold, Point, Post
from chaos_app.drills.catalogue import SYSTEMS, TOOLS, Workload, tool_name
from chaos_app.drills.cells import Cell
from chaos_app.drills.evidence import Mark
from chaos_app.drills.ground import Ground
from chaos_app.drills.helpers import Ticket
from chaos_app.drills.names import Klass, Stage
from chaos_app.drills.own import Own
from chaos_app.drills.recorder import Recorder
from chaos_app.drills.strike import NotLandedError
from chaos_app.drills.watch import Seen, Watch
from chaos_app.world.client import WorldClient
from core.boundaries import Boundary, Position
from tasks_app.status import Status

TICK = 0.05  # seconds between two thoughts of a case
AT_REST = 0.3  # seconds without any movement until a case is believed to be over
LONGEST = 75.0  # seconds of a case
# Nothing more comes of a task that stands so.
PARKED = frozenset({Status.IN_DOUBT, Status.QUARANTINED, Status.UNVERIFIED})
AGAIN = 6  # how often people repeat requests in one case
# What a page would answer with "try again": the database was away, or something broke.
BROKE = ("OperationalError", "InterfaceError", "RaisedByDrill", "DatabaseError", "Unavailable", "AdminShutdown")
_number = itertools.count(1)


@dataclass(eq=False)
class Case:
    """A run of one cell (``cell.place`` None and ``fault`` None: a run without a fault)."""

    ground: Ground
    watch: Watch
    workload: Workload
    klass: Klass
    cell: Cell | None = None
    bug: str = ""
    number: int = field(default_factory=lambda: next(_number))
    marks: list[list[Mark]] = field(default_factory=list)
    orders: list[Ticket] = field(default_factory=list)
    moved: dict[str, Ticket] = field(default_factory=dict)
    task: UUID | None = None
    struck: UUID | None = None  # the copy, where the fault was about it
    began: float = 0.0
    quiet: bool = False
    again: int = 0  # requests that were sent again
    place: str = ""
    takeover: float = 10.0  # seconds until somebody must have taken over
    told: Callable[[Mark, str | None], None] = lambda mark, worker: None  # each mark at once, and whose it is

    def __post_init__(self) -> None:
        self.name = f"c{self.number}"
        self.post: Post = self.ground.barrier.post(self.name, self._begun)
        self.until = 0.0

    # --- the plan ---

    @property
    def own(self) -> Own | None:
        """The user's target that this case is about, if it is one."""
        own = self.ground.own
        return own if own is not None and own.target.name == self.workload.name else None

    @property
    def outside_client(self) -> WorldClient | Recorder:
        """Who makes faults of the outside: the drill's own world, or the proxy before a user's service."""
        recorder = self.own.recorder if self.own is not None else None
        return recorder or self.ground.world.client

    @property
    def intent(self) -> dict[str, object]:
        """The intent of the case's task."""
        if self.own is not None:
            return dict(self.own.target.intent(self.name))
        given = {**self.workload.intent, "case": self.name, "klass": str(self.klass), "bug": self.bug}
        wanted = self.business_keys()
        if self.workload.expects is not None:
            names = [key.rpartition(".")[2] for key in wanted]
            wanted = {key: self.workload.expects[name] for key, name in zip(wanted, names, strict=True)}
        if self.workload.promises is not None:
            wanted = dict.fromkeys(wanted, self.workload.promises)
        return {**given, "place": self.place, "expected": wanted}

    def business_keys(self) -> dict[str, int]:
        """How many effects the outside must hold in the end, by the name of the act."""
        if self.klass == Klass.NONE or self.own is not None:
            return {}
        tool = "drill.batch" if self.workload.name == "batch" else tool_name(self.klass, self.workload.intent)
        tools = {"other": TOOLS[Klass.OPAQUE]}
        counts = self.workload.effects.items()
        return {f"{tools.get(name, tool)}:{self.name}.{name}": count * self.workload.items for name, count in counts}

    def _begun(self, task: UUID) -> None:
        """Called before anything is done about a new task of this case."""
        if self.task is None:
            self.task = task
            self.when_begun(task)

    def when_begun(self, task: UUID) -> None:
        """Tell the outside world beforehand what to do to this task's requests (faults override this)."""

    # --- the run ---

    def run(self) -> None:
        """Play the case to its end, whatever it is."""
        self.place = self.ground.places.get(timeout=LONGEST)
        self.began = time.time()
        self.until = time.monotonic() + LONGEST
        self.watch.attend(self.name)
        try:
            self.arm()
            self._create()
            self.strike()
            self.settle()
        except NotLandedError as error:
            self.mark(Stage.FAILED, what=str(error))
            self.settle()
        finally:
            self.ground.barrier.leave(self.post)
            self.watch.leave(self.name)
            self.ground.places.put(self.place)

    def arm(self) -> None:
        """Plan the fault (faults override this)."""

    def strike(self) -> None:
        """Wait for the place and do the fault (faults override this)."""

    def mark(self, stage: Stage, *, fault: int = 0, what: str = "", at: float = 0.0, **more: object) -> Mark:
        """Note how far a fault has come."""
        mark = Mark(stage=stage, at=at or time.time(), what=what, **more)  # type: ignore[arg-type]
        return self.note(mark, fault=fault)

    def note(self, mark: Mark, *, fault: int = 0) -> Mark:
        """Keep a mark, and tell whoever looks on."""
        while len(self.marks) <= fault:
            self.marks.append([])
        self.marks[fault].append(mark)
        parents = {one.report.pid: one.report.parent for one in list(self.post.crossed)}
        mine = {mark.pid, parents.get(mark.pid or 0)} - {None}
        self.told(mark, next((one.name for one in self.ground.workers if one.process.pid in mine), None))
        return mark

    def _taken_over(self) -> None:
        """Note the next lease after each fault that has landed under one."""
        for fault, marks in enumerate(self.marks):
            landed = next((mark for mark in marks if mark.stage == Stage.LANDED and mark.epoch is not None), None)
            if landed is None or any(mark.stage == Stage.RESUMED for mark in marks):
                continue
            for seen in self.watch.of(self.name):
                if seen.id == (self.struck or self.task) and seen.lease_epoch > (landed.epoch or 0):
                    self.mark(Stage.RESUMED, fault=fault, what="another lease", epoch=seen.lease_epoch)

    def _create(self) -> None:
        form = {"agent": self.workload.agent, "intent": self.intent, "title": f"{self.name} {self.workload.name}"}
        form["labels"] = {"drill": self.name} if self.own is not None else {}
        self.order("create", key=f"create-{self.name}", **form)

    def order(self, do: str, **more: object) -> Ticket:
        """Let a person do something, in a process of their own."""
        elsewhere = self.ground.bugs.place if self.bug else {}
        ticket = self.ground.people.order(do, case=self.name, **{**more, **elsewhere})
        self.orders.append(ticket)
        return ticket

    def tick(self) -> None:
        """Do what people do meanwhile: repeat what was cut off, answer what is asked."""
        self._taken_over()
        for ticket in list(self.orders):
            if "ended" in ticket.stages:
                self.orders.remove(ticket)
                if _is_unanswered(ticket) and self.again < AGAIN:
                    self.again += 1
                    self.order(ticket.do, **ticket.said)  # a client that had no answer sends the same request again
        if not self.orders:
            for seen in self.watch.of(self.name):
                self._move(seen)

    def _move(self, seen: Seen) -> None:
        moves = self.workload.moves
        if "pause" in moves and "pause" not in self.moved and seen.asked():
            self.moved["pause"] = self.order("pause", task=str(seen.id))
            return
        if "pause" in moves and seen.status == "paused":
            self.order("resume", task=str(seen.id))
            return
        for approval in seen.asked():
            for do in ("approve", "deny"):
                if do in moves and str(approval["id"]) not in self.moved:
                    self.moved[str(approval["id"])] = self.order(do, approval=str(approval["id"]))
                    return
        if "copy" in moves and seen.id == self.task and seen.status == "completed" and "copy" not in self.moved:
            self.moved["copy"] = self.order("copy", task=str(seen.id), key=f"copy-{self.name}")
            return
        if "signal" in moves and seen.awaits == "signal" and not seen.signals:
            self.order("signal", task=str(seen.id), key=f"go-{seen.id}")

    def settle(self) -> None:
        """Wait until nothing moves any more."""
        since, before = time.monotonic(), None
        while time.monotonic() < self.until:
            self.tick()
            seen = self.watch.of(self.name)
            now = [(one.id, one.head_seq, one.status) for one in seen]
            if now != before or not self._rests(seen):
                since, before = time.monotonic(), now
            elif time.monotonic() - since > AT_REST:
                self.quiet = True
                break
            time.sleep(TICK)
        for fault in range(len(self.marks)):
            if self.quiet:
                self.mark(Stage.QUIET, fault=fault)

    def _rests(self, seen: list[Seen]) -> bool:
        if not seen or self.orders or self._copy_due(seen):
            return False
        if "pause" in self.workload.moves and any(one.status == "paused" for one in seen):
            return False
        awaited = any(one.asked() and not one.ended for one in seen)
        return all(one.rests and one.awaits != "child" for one in seen) and not awaited and not self._signal_due(seen)

    def _signal_due(self, seen: list[Seen]) -> bool:
        return any(one.awaits == "signal" for one in seen)

    def _copy_due(self, seen: list[Seen]) -> bool:
        """Whether the copy of a task that is done is not there yet."""
        return "copy" in self.workload.moves and len(seen) == 1 and seen[0].status == "completed"

    def pause(self, seconds: float) -> None:
        """Let time pass; people go on to answer."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.tick()
            time.sleep(TICK)

    def wait(self, hold: Hold, *, what: str = "") -> None:
        """Wait until somebody stands at a place. Raises NotLandedError where the case is over without that."""
        since = None
        while not hold.reached.wait(TICK):
            self.tick()
            seen = self.watch.of(self.name)
            over = bool(seen) and all(one.ended or one.status in PARKED for one in seen)
            if over and not self.orders and not self._copy_due(seen):
                since = since or time.monotonic()
            if (since and time.monotonic() - since > 1.0) or time.monotonic() > self.until:
                raise NotLandedError(f"The place was never reached{what}.")

    def point(self, place: tuple[str, str], *, after: int | None = None) -> Point:
        """Return a place of the table as the barrier knows it; within a commit, it is the one before it."""
        boundary, position = Boundary(place[0]), Position(place[1])
        if position in {Position.COMMIT_KEPT, Position.COMMIT_DROPPED}:
            position = Position.BEFORE
        cell = self.cell
        first = after is None and cell is not None
        call = cell.call if first and cell is not None else None
        return Point(
            boundary=boundary,
            position=position,
            call=call,
            hit=max(cell.hit, 1) if first and cell is not None else 1,
            after=after,
        )


def _is_unanswered(ticket: Ticket) -> bool:
    """Whether whoever asked had no answer, or one that says nothing about the request."""
    failed = str(ticket.stages.get("failed", {}).get("answer", ""))
    return not {"done", "failed"} & ticket.stages.keys() or failed.startswith(BROKE)


def system_of(klass: Klass) -> str:
    """Return the outside system that a class acts on."""
    return SYSTEMS[klass]
