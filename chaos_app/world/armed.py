"""Armed faults: plans waiting for their arrival, requests parked by them, and a log of what really happened."""

import asyncio
import time
from typing import Any, Literal

from chaos_app.world.errors import Refused
from chaos_app.world.faults import Plan
from chaos_app.world.storage import Row, Storage
from chaos_app.world.visit import Visit

Then = Literal["go", "cut"]
HELD_BY_HEADER = 0  # in place of the id of a plan


class Armed:
    """Plans survive a restart of the world; a parked request does not, as its connection is gone."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._parked: dict[int, list[asyncio.Future[Then]]] = {}
        self._changed = asyncio.Condition()

    def arm(self, plan: Plan) -> Row:
        """Add a plan; the first that fits an arrival fires."""
        fault_id = self._storage.run(
            "INSERT INTO fault (at, plan) VALUES (?, ?)", time.time(), plan.model_dump_json(exclude_none=True)
        )
        return self.get(fault_id)

    def take(self, visit: Visit) -> None:
        """Give the visit the fault that is armed for it, if there is one. Every fitting plan counts the arrival.

        A plan that has fired as often as it should is armed no longer.
        """
        for row in self._storage.rows("SELECT * FROM fault WHERE armed ORDER BY id"):
            plan = Plan.model_validate_json(row["plan"])
            if not plan.fits(visit.traits()):
                continue
            fires = visit.fault is None and row["seen"] + 1 >= plan.match.nth
            self._storage.run(
                "UPDATE fault SET seen = seen + 1, fired = fired + ?, armed = ? WHERE id = ?",
                *(fires, row["fired"] + fires < plan.times, row["id"]),
            )
            if fires:
                visit.fault, visit.fault_id = plan, row["id"]

    def log(self, visit: Visit, what: str) -> None:
        """Note what became of a fault: fired, reached, released, expired, applied late."""
        self._storage.run(
            "INSERT INTO fault_log (at, fault_id, arrival, what) VALUES (?, ?, ?, ?)",
            *(time.time(), visit.fault_id, visit.arrival, what),
        )

    async def park(self, visit: Visit, seconds: float) -> Then:
        """Wait for the release of this visit's fault, at most ``seconds``."""
        fault_id = visit.fault_id or HELD_BY_HEADER
        gate: asyncio.Future[Then] = asyncio.get_running_loop().create_future()
        self._parked.setdefault(fault_id, []).append(gate)
        self.log(visit, "reached")
        await self._tell()
        try:
            then = await asyncio.wait_for(gate, timeout=seconds)
            self.log(visit, "released")
        except TimeoutError:
            then = "go"
            self.log(visit, "expired")
        finally:
            self._parked[fault_id].remove(gate)
        return then

    def release(self, fault_id: int, then: Then) -> int:
        """Let every request parked by this fault go on, or cut it; how many there were."""
        gates = [gate for gate in self._parked.get(fault_id, []) if not gate.done()]
        for gate in gates:
            gate.set_result(then)
        return len(gates)

    def disarm(self, fault_id: int | None = None) -> None:
        """Take one plan or all of them away, and release what they hold."""
        self._storage.run("UPDATE fault SET armed = 0 WHERE ? IS NULL OR id = ?", fault_id, fault_id)
        for parked in [fault_id] if fault_id is not None else list(self._parked):
            self.release(parked, "go")

    def abandon(self) -> None:
        """Cut every parked request, because the world ends."""
        for fault_id in list(self._parked):
            self.release(fault_id, "cut")

    def get(self, fault_id: int) -> Row:
        """One plan with its counts and its log. Raises ``Refused`` (404)."""
        row = self._storage.row("SELECT * FROM fault WHERE id = ?", fault_id)
        if row is None:
            raise Refused(404, "not_found", f"There is no fault {fault_id}.")
        return self._shown(row)

    def all(self) -> list[Row]:
        """Every plan that was ever armed here, with its log."""
        return [self._shown(row) for row in self._storage.rows("SELECT * FROM fault ORDER BY id")]

    async def reached(self, fault_id: int, *, count: int, seconds: float) -> Row:
        """The plan once ``count`` requests reached its hold, or as it is after ``seconds``."""
        end = asyncio.get_running_loop().time() + seconds
        while (shown := self.get(fault_id))["reached"] < count:
            left = end - asyncio.get_running_loop().time()
            if left <= 0 or not await self._told(left):
                break
        return self.get(fault_id) if shown["reached"] < count else shown

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def _told(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds), self._changed:
                await self._changed.wait()
        except TimeoutError:
            return False
        return True

    def _shown(self, row: Row) -> dict[str, Any]:
        log = self._storage.rows("SELECT at, arrival, what FROM fault_log WHERE fault_id = ? ORDER BY id", row["id"])
        plan = Plan.model_validate_json(row["plan"]).model_dump(mode="json", exclude_none=True)
        counts = {"id": row["id"], "at": row["at"], "armed": bool(row["armed"]), "seen": row["seen"]}
        reached = sum(1 for entry in log if entry["what"] == "reached")
        parked = sum(1 for gate in self._parked.get(row["id"], []) if not gate.done())
        return counts | {"fired": row["fired"], "reached": reached, "parked": parked, "plan": plan, "log": log}
