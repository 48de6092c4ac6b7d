"""The drill's side of a user's own target: its surroundings while the drill lasts, its cells, its outside count."""

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from chaos_app.drills.cells import ANSWERS, Cell, Seen, every_passage
from chaos_app.drills.evidence import Arrival, Effect, TaskRecord, Witness
from chaos_app.drills.names import Fault, Klass
from chaos_app.drills.recorder import Recorder
from chaos_app.drills.row import SITUATION
from chaos_app.drills.target import Target
from core.boundaries import Position

NOBODY = Witness(present=False, source="nobody")
# Of what the proxy can do: the places at which the request, or its answer, is on its way.
ON_ITS_WAY = (("E03", Position.IN_FLIGHT), ("E04", Position.APPLIED))


@dataclass(frozen=True, kw_only=True)
class Own:
    """A target that is open: ``environment`` is what its workers get, ``recorder`` its proxy (None: without one)."""

    target: Target
    environment: Mapping[str, str]
    recorder: Recorder | None = None

    def witness(self, tasks: Sequence[TaskRecord]) -> Witness:
        """Return what the outside holds of these tasks' calls. What ``ledger`` raises makes a gap (H4)."""
        arrivals = tuple(one for one in self._arrivals() if _is_of(one.call, one.key, tasks))
        if self.target.ledger is not None:
            try:
                effects = tuple(_effect(entry) for entry in self.target.ledger())
            except Exception as error:  # a user's code: whatever it was, nothing was counted
                return Witness(arrivals=arrivals, gaps=(f"{type(error).__name__}: {error}",), source="ledger()")
            return Witness(arrivals=arrivals, effects=_of(effects, tasks), source="ledger()")
        if self.recorder is None:
            return NOBODY
        return Witness(arrivals=arrivals, effects=_of(self.recorder.effects, tasks), source="recording proxy")

    def _arrivals(self) -> list[Arrival]:
        return list(self.recorder.arrivals) if self.recorder else []


def _effect(entry: Mapping[str, Any]) -> Effect:
    """Read one entry of a user's ledger; when it happened it need not say: then it is counted as of now."""
    return Effect(
        at=float(entry.get("at") or time.time()),
        system=str(entry.get("system") or "ledger"),
        operation=str(entry.get("operation") or ""),
        reference=str(entry.get("reference") or ""),
        key=entry.get("key") or None,
        call=entry.get("call") or None,
        business_key=entry.get("business_key") or None,
        item=entry.get("item") or None,
    )


def _of(effects: Iterable[Effect], tasks: Sequence[TaskRecord]) -> tuple[Effect, ...]:
    acts = {event.data.get("business_key") for task in tasks for event in task.events if event.kind == "call.intended"}
    acts.discard(None)
    names = {
        event.data["key"]: f"{task.task}/{event.data['name']}"
        for task in tasks
        for event in task.events
        if event.kind == "call.intended"
    }
    named = [replace(one, call=one.call or names.get(one.key or "")) for one in effects]
    return tuple(one for one in named if _is_of(one.call, one.key, tasks) or one.business_key in acts)


def _is_of(call: str | None, key: str | None, tasks: Sequence[TaskRecord]) -> bool:
    """Whether marks are those of one of these tasks: its id stands in the call and in every key of ours."""
    starts = tuple(f"hr-{task.task.replace('-', '')}-" for task in tasks)
    return (call or "").startswith(tuple(f"{task.task}/" for task in tasks)) or (key or "").startswith(starts)


@contextmanager
def target_open(target: Target, folder: Path) -> Iterator[Own]:
    """Run what a target needs until the block ends. Raises ValueError where what it says cannot be used."""
    folder.mkdir(parents=True, exist_ok=True)
    with target.open(folder) as more:
        os.environ.update(more)  # criteria and ledger() are asked in this process as well
        address = os.environ.get(target.address, "") if target.address else ""
        if target.address and urlsplit(address).scheme != "http":
            raise ValueError(f"{target.address} must be an http:// address for the recording proxy; it is {address!r}.")
        recorder = Recorder(address) if address else None
        try:
            proxied = {target.address: recorder.url} if recorder else {}
            yield Own(target=target, environment={**more, **proxied}, recorder=recorder)
        finally:
            if recorder:
                recorder.close()


def own_cells(target: Target, passages: Sequence[Seen], *, suite: str) -> tuple[Cell, ...]:
    """Return the cases of a target: ``core`` dies at each first passage, ``full`` at each last one as well.

    Passages of other calls than the drilled one are left aside: their class is another one.
    """
    klass, mine = target.klass, [one for one in passages if one.call in {None, target.call}]
    found = [one for one in every_passage(target.name, klass, mine) if suite == "full" or one.hit == 1]
    found += list(_outside(target, klass, suite)) if target.address else []
    if any((one.boundary, one.position) == ("E02", Position.BEFORE_SEND) for one in mine):
        place = ("E02", str(Position.BEFORE_SEND))
        found.append(_cell(target, klass, Fault.ZOMBIE, "L06", SITUATION, place))
    return tuple({cell.id: cell for cell in found}.values())


def _outside(target: Target, klass: Klass, suite: str) -> Iterator[Cell]:
    for row, position in ON_ITS_WAY:
        yield _cell(target, klass, Fault.KILL, row, str(position), (row, str(position)))
    for fault in ANSWERS if suite == "full" else (Fault.ANSWER_LOST,):
        yield _cell(target, klass, fault, "E03", str(Position.IN_FLIGHT), None)


def _cell(target: Target, klass: Klass, fault: Fault, row: str, position: str, place: tuple[str, str] | None) -> Cell:
    form = {"workload": target.name, "call": target.call, "suite": "own"}
    return Cell(row=row, position=position, klass=klass, fault=fault, place=place, **form)  # type: ignore[arg-type]
