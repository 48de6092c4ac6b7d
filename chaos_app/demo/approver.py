"""The person at the desk: reads what waits, looks outside, answers. Everything through the API, as people do it."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from chaos_app.demo.desk import Desk, Json
from chaos_app.demo.reports import Incident
from chaos_app.demo.turns import Turns
from chaos_app.world.client import WorldClient

Say = Callable[[str], None]


class Approver:
    """Approves what the agents propose, and settles payments whose outcome nobody knows by reading the bank's list."""

    def __init__(
        self, *, desk: Desk, world: WorldClient, tasks: Mapping[UUID, Incident], turns: Turns, say: Say
    ) -> None:
        self._desk, self._world, self._tasks, self._turns, self._say = desk, world, tasks, turns, say
        self.settled: list[str] = []
        self.approved = 0

    def look(self, statuses: Mapping[UUID, str]) -> None:
        """Do what waits for a person now."""
        for approval in self._desk.approvals():
            if not self._turns.come(self._name(approval["task"]), approval["call"]):
                continue
            self._desk.approve(approval, "Checked against the report; this is what it asks for.")
            self.approved += 1
            self._say(f"{self._name(approval['task'])}: silas approves {approval['line']}")
        for task in [task for task, status in statuses.items() if status == "in_doubt"]:
            for call in self._desk.calls(task):
                if call["state"] == "in_doubt":
                    self._settle(task, call)

    def _settle(self, task: UUID, call: Json) -> None:
        """Found in the bank's list: it happened. Not found: it did not, if the look came after the last moment."""
        knowable = datetime.now(UTC) >= self._knowable(task, call)
        reference = self._payment(call["key"]) if call["tool"] == "vendor.credit" else self._effect(call["key"])
        if not reference and not knowable:
            return  # what was accepted may still take effect: look again then
        answer = "happened" if reference else "not_happened"
        evidence = f"Looked into the list outside: {reference or 'there is nothing that carries ' + call['key']}."
        if self._desk.settle(task, call["name"], answer=answer, evidence=evidence, reference=reference):
            self.settled.append(f"{call['tool']} of {self._name(task)}: {answer.replace('_', ' ')}")
            self._say(f"{self._name(task)}: silas settles {call['name']} as {answer.replace('_', ' ')}")

    def _knowable(self, task: UUID, call: Json) -> datetime:
        doubts = [event["data"] for event in self._desk.events(task) if event["kind"] == "call.in_doubt"]
        return max(datetime.fromisoformat(said["not_before"]) for said in doubts if said["name"] == call["name"])

    def _payment(self, key: str) -> str:
        payments: list[dict[str, Any]] = self._world.state()["payments"]
        return next((str(payment["id"]) for payment in payments if f"[{key}]" in payment["memo"]), "")

    def _effect(self, key: str) -> str:
        return next((effect.reference for effect in self._world.effects(key=key)), "")

    def _name(self, task: UUID | str) -> str:
        incident = self._tasks.get(UUID(str(task)))
        return incident.id if incident else str(task)
