"""Faults of the outside: answers that are lost, late, broken; effects that arrive late, are hidden, or doubled."""

import time
from typing import Any
from uuid import UUID

from chaos_app.drills.case import Case, system_of
from chaos_app.drills.limits import TIMEOUT
from chaos_app.drills.names import Fault, Proof, Stage
from chaos_app.drills.strike import NotLandedError
from tasks_app.runtime.intending import call_key

# What the outside is told, for a call's first attempt. Late and slow: longer than the call waits.
TOLD: dict[Fault, tuple[str, dict[str, Any]]] = {
    Fault.ANSWER_LOST: ("lose_answer", {}),
    Fault.ANSWER_LATE: ("delay", {"seconds": 1.0}),
    Fault.ANSWER_GARBAGE: ("garbage", {}),
    Fault.ANSWER_SLOW: ("slow", {"seconds": 1.0}),
    Fault.ANSWER_ERROR: ("fail_after", {}),
    Fault.EFFECT_LATE: ("apply_late", {"seconds": TIMEOUT / 2}),
    Fault.EFFECT_PLANTED: ("plant", {}),
    Fault.CREDENTIAL: ("refuse", {"status": 401}),
}
ACT_STEP = 2  # the step at which the plain workload acts


class Told(Case):
    """The outside does to the drilled request what it was told to do."""

    plan_id: int = 0

    def when_begun(self, task: UUID) -> None:
        """Tell it, before anything is done."""
        assert self.cell is not None
        client, system = self.outside_client, system_of(self.klass)
        if self.cell.fault == Fault.EFFECT_HIDDEN:
            match: dict[str, Any] = {"operation": "lookup", "key": call_key(task, ACT_STEP, 0)}
            self.plan_id = client.arm(system, "hide", match=match, times=1).id
            return
        kind, more = TOLD[self.cell.fault]
        match = {"call": f"{task}/{self.cell.call or 'act'}", "attempt": 1}
        if kind == "refuse" and system == "mail":
            more = {}
        self.plan_id = client.arm(system, kind, match=match, **more).id

    def arm(self) -> None:
        """Nothing waits: the request itself is the moment."""
        self.mark(Stage.ARMED, what="the outside was told")

    def strike(self) -> None:
        """Wait until it has happened, by the outside's own log."""
        client = self.outside_client
        while not self.plan_id or client.fault(self.plan_id).fired == 0:
            self.tick()
            if time.monotonic() > self.until or self._over():
                raise NotLandedError("The request never came to the outside.")
            time.sleep(0.1)
        seen = client.fault(self.plan_id)
        at = next((float(line["at"]) for line in seen.log if line.get("what") == "fired"), time.time())
        self.mark(Stage.REACHED, at=at)
        self.mark(Stage.FIRED, at=at, what=f"{seen.plan['fault']}")
        self.mark(Stage.LANDED, at=at, what="the outside's log says so", proof=Proof.WITNESS_LOG)

    def _over(self) -> bool:
        seen = self.watch.of(self.name)
        return bool(seen) and all(one.ended for one in seen) and not self.orders
