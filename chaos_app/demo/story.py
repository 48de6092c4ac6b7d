"""What happens in ``demo --once``: ten incidents are given, workers die, people decide, the outside is counted."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from chaos_app.demo.approver import Approver
from chaos_app.demo.deaths import DEATHS, TOOLS, Death
from chaos_app.demo.desk import Desk
from chaos_app.demo.holds import Hold
from chaos_app.demo.people import people_enter
from chaos_app.demo.reports import Incident, incidents
from chaos_app.demo.turns import WORKERS, Turns, workers_up
from chaos_app.injector.controller import Controller
from chaos_app.injector.plan import Plan
from chaos_app.world.client import Effect, World

Say = Callable[[str], None]
START_SECONDS, WORK_SECONDS = 120.0, 600.0  # at most, on a machine that is busy with other things; else a tenth of it
LOOK = 0.3  # seconds between two looks at the desk
ENDED = {"completed", "failed", "cancelled", "unverified", "quarantined"}


@dataclass(kw_only=True)
class Told:
    """Everything that a run left behind, for the judgement."""

    incidents: list[Incident]
    statuses: dict[str, str] = field(default_factory=dict)
    calls: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    events: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    effects: list[Effect] = field(default_factory=list)
    disagreements: list[str] = field(default_factory=list)
    plans: list[tuple[Death, Plan]] = field(default_factory=list)
    settled: list[str] = field(default_factory=list)
    approved: int = 0
    seconds: float = 0.0


class Story:
    """One run. ``controller`` answers the workers' crossings, ``world`` is the outside, ``say`` prints a line."""

    def __init__(self, *, controller: Controller, world: World, say: Say) -> None:
        self._controller, self._world, self._say = controller, world, say
        self._told = Told(incidents=incidents())
        self._tasks: dict[UUID, Incident] = {}

    def run(self, url: str) -> Told:
        """Play it against the pages at ``url``. Raises TimeoutError where the workers do not come up."""
        with self._desks(url) as (starts, decides):
            self._wait(lambda: workers_up() >= WORKERS and starts.ready())
            began = time.monotonic()
            self._say(f"Everything is up; {len(DEATHS)} deaths are planned.")
            self._work(starts, decides)
            self._told.seconds = time.monotonic() - began
            self._collect(decides)
        return self._told

    @contextmanager
    def _desks(self, url: str) -> Iterator[tuple[Desk, Desk]]:
        entry = people_enter(url)
        desks = Desk(url, entry.starts), Desk(url, entry.decides)
        try:
            yield desks
        finally:
            for desk in desks:
                desk.close()

    def _wait(self, condition: Callable[[], bool]) -> None:
        until = time.monotonic() + START_SECONDS
        while not condition():
            if time.monotonic() > until:
                raise TimeoutError(f"The workers did not come up within {START_SECONDS:g} s; the log says why.")
            time.sleep(LOOK)

    def _work(self, starts: Desk, decides: Desk) -> None:
        plans = {incident.id: [d for d in DEATHS if d.incident == incident.id] for incident in self._told.incidents}
        self._told.plans = [(death, death.plan()) for deaths in plans.values() for death in deaths]
        turns = Turns(self._told.plans, workers_up)
        approver = Approver(desk=decides, world=self._world.client, tasks=self._tasks, turns=turns, say=self._say)
        until = time.monotonic() + WORK_SECONDS
        while time.monotonic() < until and not self._ended(decides, approver):
            self._give(starts, turns)
            time.sleep(LOOK)
        self._told.settled, self._told.approved = approver.settled, approver.approved

    def _ended(self, decides: Desk, approver: Approver) -> bool:
        statuses = {task: status for task, status in decides.statuses().items() if task in self._tasks}
        approver.look(statuses)
        return len(statuses) == len(self._told.incidents) and set(statuses.values()) <= ENDED

    def _give(self, desk: Desk, turns: Turns) -> None:
        """Start one task, if one is left whose turn has come; its deaths are armed before any worker looks at it."""
        given = {incident.id for incident in self._tasks.values()}
        left = [incident for incident in self._told.incidents if incident.id not in given]
        incident = next((incident for incident in left if turns.come(incident.id, "start")), None)
        if incident is None:
            return
        with self._controller.held():
            task = desk.start(incident.report)
            self._tasks[task] = incident
            self._arm(incident, task)
        self._say(f"{incident.id}: rhea starts a task")

    def _arm(self, incident: Incident, task: UUID) -> None:
        for death, plan in self._told.plans:
            if death.incident != incident.id:
                continue
            plan.place.task = task
            if death.outside and death.call:
                effect = next(wanted for wanted in incident.expected if wanted.tool == TOOLS[death.call])
                Hold(world=self._world.url, controller=self._controller, plan=plan, effect=effect, at=death.outside)
            else:
                self._controller.arm(plan)

    def _collect(self, desk: Desk) -> None:
        statuses = desk.statuses()
        for task, incident in self._tasks.items():
            self._told.statuses[incident.id] = statuses[task]
            self._told.calls[incident.id] = desk.calls(task)
            self._told.events[incident.id] = desk.events(task)
        ledger = self._world.client.ledger(limit=1000)
        self._told.effects, self._told.disagreements = ledger.effects, ledger.disagreements
