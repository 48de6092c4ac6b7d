"""A script for evidence made by hand: a task's life told event by event, with what the outside counts. Pure.

For the judge's own proof (``planted``) and for tests. One second passes from each event to the next.
"""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Self

from chaos_app.drills.evidence import (
    Arrival,
    CellRef,
    Control,
    Effect,
    Event,
    Evidence,
    Expected,
    FaultLog,
    Mark,
    TaskRecord,
    Witness,
)
from chaos_app.drills.names import Fault, Klass, Proof, Stage, Verdict

START = 1_800_000_000.0
TASK = "00000000-0000-7000-8000-000000000001"
SYSTEMS = {
    Klass.KEYED: "tickets",
    Klass.READABLE: "mail",
    Klass.PRECONDITION: "config",
    Klass.OPAQUE: "payments",
    Klass.NONE: "stock",
}


def iso(at: float) -> str:
    """Return a moment as events hold it."""
    return datetime.fromtimestamp(at, UTC).isoformat()


class Script:
    """One task that plans, attempts, dies and goes on, as far as it is told to."""

    def __init__(self, klass: Klass = Klass.KEYED, *, row: str = "E04", position: str = "applied") -> None:
        self.klass, self.row, self.position = klass, row, position
        self.fault = Fault.KILL
        self.now, self.epoch = START, 0
        self.events: list[Event] = []
        self.arrivals: list[Arrival] = []
        self.effects: list[Effect] = []
        self.faults: list[FaultLog] = []
        self.status = "running"
        self.wait: dict[str, Any] | None = None
        fixed: dict[str, Any] = {name: {} for name in ("intent", "labels", "budget")}
        self.say("task.created", **fixed, done_when=[], title="t", agent="a", agent_version=1, code_digest="")

    def say(self, kind: str, /, *, epoch: int | None = None, same: bool = False, **data: Any) -> Self:
        """Append an event; ``same``: in the transaction of the one before."""
        self.now += 0.0 if same else 1.0
        self.events.append(Event(seq=len(self.events) + 1, kind=kind, data=data, at=self.now, epoch=epoch))
        return self

    def ours(self, kind: str, /, *, same: bool = False, **data: Any) -> Self:
        """Append an event of the worker that holds the task."""
        return self.say(kind, epoch=self.epoch, same=same, **data)

    def claim(self) -> Self:
        """Let a new worker take the task."""
        self.epoch += 1
        made: dict[str, Any] = {
            "worker": f"w-{self.epoch}",
            "nonce": f"n{self.epoch}",
            "host": "h",
            "pid": 100 + self.epoch,
        }
        return self.ours("slice.claimed", **made, place="step 1")

    def plan(self, name: str = "act", *, step: int = 1, **more: Any) -> Self:
        """Decide a step with one call."""
        self.ours("step.decided", step=step, does="call", names=[name])
        klass = "readable" if self.klass == Klass.PRECONDITION else str(self.klass)
        fixed = {"ordinal": 0, "tool": "t", "contract_version": 1, "schema_digest": "s", "digest": f"d-{name}"}
        fixed |= {"key": f"k-{name}", "effect_class": klass, "arguments": {"n": 1}}
        return self.ours("call.intended", same=True, name=name, step=step, **(fixed | more))

    def attempt(self, name: str = "act", number: int = 1, *, key: str = "", same: bool = True, **more: Any) -> Self:
        """Record an attempt, its deadline ten seconds away."""
        until = {"send_by": iso(self.now + 2), "deadline": iso(self.now + 10)}
        return self.ours(
            "call.attempted", same=same, name=name, attempt=number, key=key or f"k-{name}", **until, **more
        )

    def arrive(self, name: str = "act", number: int = 1, *, applied: bool = True, key: str = "", **more: Any) -> Self:
        """Let the request arrive outside, and apply it."""
        self.now += 0.1
        marks = {"key": key or f"k-{name}", "call": f"{TASK}/{name}", **more}
        known: dict[str, Any] = {"id": len(self.arrivals) + 1, "system": SYSTEMS[self.klass], "operation": "do"}
        done = self.now if applied else None
        self.arrivals.append(Arrival(at=self.now, acts=True, attempt=number, applied_at=done, **known, **marks))
        if applied:
            reference = f"R-{len(self.effects) + 1}"
            self.effects.append(
                Effect(at=self.now, system=SYSTEMS[self.klass], operation="do", reference=reference, **marks)
            )
        return self

    def look(self) -> Self:
        """Let the outside count a look."""
        self.now += 0.1
        known: dict[str, Any] = {"id": len(self.arrivals) + 1, "system": SYSTEMS[self.klass], "operation": "lookup"}
        self.arrivals.append(Arrival(at=self.now, acts=False, **known))
        return self

    def die(self, *, call: str = "act") -> Self:
        """Kill the worker, prove it, and let its loss be seen."""
        self.now += 0.1
        pid, killed = 100 + self.epoch, f"killed by {Fault.KILL}"
        stages = (Stage.ARMED, Stage.REACHED, Stage.FIRED)
        marks = [Mark(stage=stage, at=self.now, pid=pid, epoch=self.epoch) for stage in stages]
        proven = Mark(stage=Stage.LANDED, at=self.now, pid=pid, epoch=self.epoch, exit_status=killed)
        marks.append(replace(proven, proof=Proof.EXIT_STATUS))
        log = FaultLog(row=self.row, position=self.position, fault=self.fault, task=TASK, call=call)
        self.faults.append(replace(log, marks=tuple(marks)))
        lost: dict[str, Any] = {
            "lost_epoch": self.epoch,
            "worker": f"w-{self.epoch}",
            "seen": "process gone",
            "losses": 1,
        }
        return self.say("slice.lost", place=call, counted=True, **lost)

    def answer(self, name: str = "act", number: int = 1) -> Self:
        """Record the answer ok, look outside, verify."""
        return self.ours("call.outcome", name=name, attempt=number, outcome="ok", sent=True).verify(name)

    def verify(self, name: str = "act", *, looks: bool = True, reference: str = "R-1", step: int = 1) -> Self:
        """Read back and advance the checkpoint."""
        self.look() if looks else None
        self.ours("call.verified", name=name, reference=reference)
        return self.ours("checkpoint.advanced", same=True, step=step)

    def found(self, name: str = "act", *, reference: str = "R-1") -> Self:
        """Look up, find, take over."""
        said: dict[str, Any] = {
            "look_up": 1,
            "answer": "found",
            "move": "adopt",
            "adopted": True,
            "reference": reference,
        }
        return self.look().ours("call.observed", name=name, **said)

    def complete(self, *, step: int = 2) -> Self:
        """Claim, check, complete."""
        self.ours("step.decided", step=step, does="complete")
        self.ours("task.claimed_complete", summary="", claims=[])
        self.ours("evidence.observed", criterion="c", holds=True, expected=1, seen=1, source="call", how="checked")
        self.ours("task.completed", same=True, criteria=1)
        self.status = "completed"
        return self.ours("slice.released", same=True, why="finished", worker=f"w-{self.epoch}")

    def hold(self, name: str = "act") -> Self:
        """Hold the call for a person."""
        self.ours("call.in_doubt", name=name, rule="E02", reason="nobody can tell", check="look at the payments")
        self.ours("slice.released", why="parked", worker=f"w-{self.epoch}")
        self.status, self.wait = "in_doubt", {"kind": "approval", "on": [name]}
        return self

    def evidence(self, **more: Any) -> Evidence:
        """Return all of it as evidence, with a run without the fault that ended well."""
        cell = CellRef(
            id=f"{self.row}.{self.position}.{self.klass}.kill",
            row=self.row,
            position=self.position,
            klass=self.klass,
            fault=self.fault,
            workload="act",
        )
        record = TaskRecord(task=TASK, role="task", status=self.status, events=tuple(self.events), wait=self.wait)
        twin = Control(kind="twin", end=Verdict.ONCE, statuses={"task": "completed"}, effects={"act": 1})
        made = Evidence(
            cell=cell,
            run="by-hand",
            seed=1,
            began=START,
            ended=self.now,
            tasks=(replace(record, owner="rhea", head_seq=len(self.events)),),
            witness=Witness(arrivals=tuple(self.arrivals), effects=tuple(self.effects)),
            faults=tuple(self.faults),
            controls=(twin,),
            expected=Expected(drilled="act"),
            rules=("same",) * 5,
        )
        return replace(made, **more)


def good(klass: Klass = Klass.KEYED) -> Script:
    """Return a good run: killed with the effect done and its answer lost; the next worker does what its class asks."""
    script = Script(klass).claim().plan().attempt().arrive().die().claim()
    match klass:
        case Klass.KEYED:
            script.attempt(number=2, same=False).arrive(number=2, applied=False).answer(number=2)
        case Klass.OPAQUE:
            return script.hold()
        case _:
            script.ours("call.resume_decided", name="act", rule="E03", move="wait", effect_class="readable", reason="r")
            script.now += 10
            script.found().verify()
    return script.complete()
