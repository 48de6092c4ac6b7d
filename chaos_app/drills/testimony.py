"""What a case has left, as evidence for the judge."""

import time
from collections.abc import Callable
from dataclasses import replace

import psycopg
from django.db import InterfaceError, OperationalError, connection
from pydantic import TypeAdapter

from chaos_app.drills import collect
from chaos_app.drills.case import Case
from chaos_app.drills.evidence import CellRef, Control, Evidence, Expected, FaultLog, TaskRecord, Witness
from chaos_app.drills.limits import LAG, LEASE
from chaos_app.drills.names import Fault

COMES_BACK = 30.0  # seconds; a case beside may just have killed the database, which starts again
ASSUMED = {
    "key retention": "longer than the drill",
    "late arrivals of the outside": f"at most {LAG} s after an attempt's deadline",
    "lease": f"{LEASE} s",
    "clock of the database": "does not jump",
}


def evidence_of(
    case: Case, *, run: str, seed: int, controls: tuple[Control, ...], versions: dict[str, str], command: str
) -> Evidence:
    """Bring together what the case has left."""
    tasks = _records(case)
    expected = expected_of(case)
    return Evidence(
        cell=_reference(case),
        run=run,
        seed=seed,
        began=case.began,
        ended=time.time(),
        tasks=tasks,
        witness=_witness(case, tasks),
        faults=_faults(case),
        lanes=collect.lanes(tasks, case.post),
        controls=controls,
        expected=expected,
        versions=versions,
        quiet=case.quiet,
        command=command,
        planted_bug=case.bug,
    )


def _witness(case: Case, tasks: tuple[TaskRecord, ...]) -> Witness:
    if case.own is not None:
        return case.own.witness(tasks)
    return collect.witness(case.ground.world.client, tasks, case.business_keys())


def _records(case: Case) -> tuple[TaskRecord, ...]:
    if case.bug:  # another database: a process that works there reads it
        said = case.order("records").wait("done", "failed", seconds=30)
        if said is None or said["stage"] == "failed":
            raise TimeoutError(f"The record of {case.name} could not be read: {said}")
        return TypeAdapter(tuple[TaskRecord, ...]).validate_python(said["answer"]["tasks"])
    return read_patiently(lambda: collect.records(case.name))


def read_patiently[Found](read: Callable[[], Found], seconds: float = COMES_BACK) -> Found:
    """Return what is read, as soon as the database answers. Raises its error if it stays away for so long."""
    until = time.monotonic() + seconds
    while True:
        try:
            return read()
        except (OperationalError, InterfaceError, psycopg.OperationalError):
            if time.monotonic() > until:
                raise
            time.sleep(0.1)
        finally:
            connection.close()


def expected_of(case: Case) -> Expected:
    """What the workload declares."""
    statuses = {"task": case.workload.status, **case.workload.children}
    items = {"act": case.workload.items} if case.workload.items != 1 else {}
    return Expected(
        end=case.workload.end,
        statuses=statuses,
        items=items,
        drilled=case.workload.drilled,
        takeover_seconds=case.takeover,
        assumptions=ASSUMED,
    )


def _reference(case: Case) -> CellRef:
    cell = case.cell
    if cell is None:
        name = f"twin.{case.workload.name}.{case.klass}"
        return CellRef(id=name, row="-", position="-", klass=case.klass, fault=Fault.KILL, workload=case.workload.name)
    return CellRef(
        id=cell.id,
        row=cell.row,
        position=cell.position,
        klass=cell.klass,
        fault=cell.fault,
        workload=cell.workload,
        hit=cell.hit,
    )


def _faults(case: Case) -> tuple[FaultLog, ...]:
    cell = case.cell
    if cell is None:
        return ()
    first = FaultLog(
        row=cell.row,
        position=cell.position,
        fault=cell.fault,
        hit=cell.hit,
        task=str(case.struck or case.task or ""),
        call=cell.call,
    )
    logs = [replace(first, marks=tuple(case.marks[0]) if case.marks else ())]
    if cell.second is not None:
        row, position = cell.second
        marks = tuple(case.marks[1]) if len(case.marks) > 1 else ()
        logs.append(replace(first, row=row, position=position, fault=Fault.KILL, hit=1, marks=marks))
    return tuple(logs)
