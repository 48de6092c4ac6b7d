"""The guided run from beginning to end, in its controller: it waits for the person, and shows both sides."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from chaos_app.demo.reports import Incident, incidents
from chaos_app.drills.ground import Ground
from chaos_app.drills.naive import ACTS_FIRST
from chaos_app.guided.outside import outside_shown
from chaos_app.guided.stages import STAGES
from chaos_app.guided.state import Json, orders_take, state_write
from chaos_app.guided.told import asked_of, task_told
from chaos_app.injector.killing import Victim, kill
from tasks_app.models import Call, Event, Task
from tasks_app.status import CallState, Status

TICK = 0.2
PATIENCE = 900.0  # seconds that a person has at one stage before the run ends and cleans up
KILL_WITHIN = 90.0  # the attempt's own deadline is later: a worker that nobody kills is killed then
MOVES_WITHIN = 90.0  # until the machine has done what it must do


class Ended(Exception):
    """Somebody ended the run, or nobody went on with it."""


@dataclass(eq=False)
class Guide:
    """One run. ``folder``: where page and controller meet."""

    ground: Ground
    folder: Path
    problem: str = ""
    until: float | None = None
    killed: str = ""
    task: UUID | None = None
    stage: str = "starting"
    incident: Incident = field(default_factory=lambda: incidents()[0])

    def run(self) -> None:
        """Play all stages; what goes wrong is the last one."""
        client = self.ground.world.client
        held = self._hold(self._key(self.incident.id))
        made = self._order("create", agent="incident.remediate", intent=self.incident.report, **self._named())
        self.task = UUID(made["task"])
        for call, stage in (("change", "change"), ("credit", "pay")):
            self._watch("reading", lambda call=call: asked_of(self._row(), call))  # type: ignore[misc]
            self._approved(call, stage)
        self._watch("paying", lambda: client.fault(held).parked)
        self._killed(held)
        self._watch("takeover", lambda: self._call("credit").state == CallState.IN_DOUBT)
        self._settled()
        self._watch("finishing", lambda: self._row().status == Status.COMPLETED)
        self._person("protected", "unprotected")
        self._unprotected()
        self._person("over", "end")

    # --- the stages that need a person ---

    def _approved(self, call: str, stage: str) -> None:
        self._person(stage, "approve")
        asked = asked_of(self._row(), call)
        if asked is not None:
            self._order("approve", approval=str(asked.pk), reason="pressed on the page of the guided run")

    def _killed(self, held: int) -> None:
        """Let the person kill the process that waits for the bank; in time for its deadline, otherwise do it."""
        self.until = time.time() + KILL_WITHIN
        self._person("applied", "kill", patience=KILL_WITHIN)
        self.until = None
        claimed = Event.objects.filter(stream=self._row().pk, kind="slice.claimed").order_by("-seq")[0]
        kill(int(claimed.data["pid"]), Victim.CHILD)
        self.killed = f"{claimed.data['worker']}, process {claimed.data['pid']}"
        self.ground.world.client.release(held, then="cut")

    def _settled(self) -> None:
        """Take what the person saw on the right, until it is something that is there."""
        while True:
            given = self._person("look", "settle")
            paid = {row["id"] for row in self.ground.world.client.state()["payments"]}
            reference = str(given.get("reference", "")).strip()
            if reference not in paid:
                self.problem = "There is no payment of that number on the right. Nothing was recorded."
                continue
            said = self._order("settle", call="credit", **self._answer(reference))
            self.problem = str(said.get("refused", ""))
            if not self.problem:
                return

    def _answer(self, reference: str) -> Json:
        evidence = f"Seen in the list of the bank, under {reference}."
        return {"task": str(self.task), "answer": "happened", "reference": reference, "evidence": evidence}

    def _unprotected(self) -> None:
        """Pay by the executor that protects nothing, kill it at the same place, start it again."""
        client, key = self.ground.world.client, self._key(f"{self.incident.id}-unprotected")
        held = self._hold(key)
        note = self.folder / "note.json"
        arguments = {"payee": self.incident.report["vendor"], "cents": self.incident.report["credit_cents"]}
        arguments |= {"memo": f"{self.incident.id}, without protection"}
        order = {"class": "opaque", "order": ACTS_FIRST, "tool": "vendor.credit", "business_key": key}
        start = {**order, "arguments": arguments, "note": str(note)}
        first = self.ground.people.order("unprotected", case="without protection", **start)
        self._watch("unprotected", lambda: client.fault(held).parked)
        forked = first.wait("forked")
        if forked is not None:
            kill(forked["pid"], Victim.CHILD)
        client.release(held, then="cut")
        again = self.ground.people.order("unprotected", case="without protection", **start)
        self._watch("unprotected", lambda: "done" in again.stages or "failed" in again.stages)

    # --- how it waits ---

    def _person(self, stage: str, do: str, *, patience: float = PATIENCE) -> Json:
        """Show a stage until the person does what it is for. Raises Ended."""
        until = time.monotonic() + patience
        while time.monotonic() < until:
            self._say(stage)
            for order in orders_take(self.folder):
                if order.get("do") == "end":
                    raise Ended
                if order.get("do") == do:
                    self.problem = ""
                    return order
            time.sleep(TICK)
        if do == "kill":
            return {}
        raise Ended

    def _watch(self, stage: str, come: Callable[[], object]) -> None:
        """Show a stage until the machine has come so far. Raises TimeoutError."""
        until = time.monotonic() + MOVES_WITHIN
        while not come():
            self._say(stage)
            if any(order.get("do") == "end" for order in orders_take(self.folder)):
                raise Ended
            if time.monotonic() > until:
                raise TimeoutError(f"{STAGES[stage].title}: nothing moved for {MOVES_WITHIN:.0f} s.")
            time.sleep(TICK)

    def _say(self, stage: str) -> None:
        self.stage = stage
        state: Json = {"stage": stage, "at": time.time(), "problem": self.problem, "until": self.until}
        state |= {"killed": self.killed, "world": outside_shown(self.ground.world.client.state())}
        if self.task is not None:
            row = self._row()
            state |= {"task": task_told(row), "asked": self._asked(row, stage)}
        state_write(self.folder, state)

    def _asked(self, row: Task, stage: str) -> str:
        asked = asked_of(row, {"change": "change", "pay": "credit"}.get(stage, ""))
        return str(asked.line) if asked else ""

    # --- small things ---

    def _row(self) -> Task:
        assert self.task is not None
        return Task.objects.get(pk=self.task)

    def _call(self, name: str) -> Call:
        return Call.objects.get(task=self.task, name=name)

    def _key(self, incident: str) -> str:
        return f"vendor.credit:{incident}:{self.incident.report['vendor']}"

    def _hold(self, key: str) -> int:
        match: dict[str, Any] = {"business_key": key}
        return self.ground.world.client.arm("payments", "hold", match=match, at="applied", times=1).id

    def _named(self) -> Json:
        return {"title": f"{self.incident.id}: {self.incident.report['title']}", "key": "guided", "labels": {}}

    def _order(self, do: str, **more: object) -> Json:
        said = self.ground.people.order(do, case="guided", **more).wait("done", "failed", seconds=MOVES_WITHIN)
        if said is None or said["stage"] == "failed":
            raise RuntimeError(f"{do}: {said['answer'] if said else 'no answer'}")
        return dict(said["answer"])
