"""What the API of drills takes and gives. The descriptions are the published documentation."""

from datetime import datetime
from typing import Any
from uuid import UUID

from ninja import Field, Schema

from chaos_app.models import DrillCase, DrillRun


class LaunchIn(Schema):
    """A drill to run. Nothing chosen beside the suite means: all of it. A soak takes ``kills`` and is not narrowed."""

    suite: str = Field("core", max_length=10, description="core, full or soak")
    cell: list[str] = Field([], max_length=50, description="ids of cases, as `drill list --suite full` shows them")
    row: list[str] = Field([], max_length=50, description="places of the table, as E04")
    klass: list[str] = Field([], max_length=10, description="keyed, readable, precondition, opaque")
    fault: list[str] = Field([], max_length=50, description="as on the command line: kill, kill-worker, ...")
    kills: int | None = Field(None, description="of a soak; 100 where none is said")
    target: str = Field("", max_length=200, description="an agent of one's own, as PACKAGE.drill:NAME offers it")
    sandbox: bool = Field(False, description="run the built-in tools in sandboxes")
    seed: int | None = Field(None, ge=0, lt=2**31, description="the same one runs the same; by default one is drawn")

    def selection(self) -> dict[str, Any]:
        """Return the choice as the service takes it."""
        names = ("cell", "row", "klass", "fault", "kills", "target", "sandbox")
        return {name: value for name in names if (value := getattr(self, name)) not in (None, "", False, [])}


class PreviewOut(Schema):
    """What a launch would run, as far as the table alone knows; full and soak find more by running."""

    suite: str
    cells: list[str]
    refused: str = Field(description="why no drill starts here now; empty where one may")


class RunRow(Schema):
    """A run in a list. ``exit_code``: 0 all as allowed, 1 a violation, 2 not complete or inconclusive."""

    id: UUID
    suite: str
    seed: int
    selection: dict[str, Any]
    state: str = Field(description="starting, running, ended, stopped or failed")
    launched_by: str = Field(description="username; empty: a schedule, or the command line")
    launched_at: datetime
    ended_at: datetime | None
    exit_code: int | None
    sentence: str
    summary: str
    why: str


class RunOut(RunRow):
    """One run."""

    command: str
    versions: dict[str, Any]
    cells: list[str]
    done: int = Field(description="how many of its cases are judged")
    stop_asked_at: datetime | None


class CaseOut(Schema):
    """One judged case. Seconds."""

    id: int
    cell: str
    row: str
    position: str
    klass: str
    fault: str
    workload: str
    hit: int
    verdict: str
    as_allowed: bool
    cause: str
    broken: list[dict[str, Any]]
    takeover: float | None
    takeover_bound: float | None
    settled: float | None
    settled_bound: float | None
    digest: str = Field(description="SHA-256 of its evidence")
    ended_at: datetime


def run_row(run: DrillRun) -> dict[str, Any]:
    """Return a run as ``RunRow`` gives it."""
    names = ("id", "suite", "seed", "selection", "state", "launched_at", "ended_at", "exit_code")
    texts = ("sentence", "summary", "why")
    by = run.launched_by.get_username() if run.launched_by else ""
    return {name: getattr(run, name) for name in (*names, *texts)} | {"launched_by": by}


def run_out(run: DrillRun, done: int) -> dict[str, Any]:
    """Return a run as ``RunOut`` gives it."""
    more = {name: getattr(run, name) for name in ("command", "versions", "cells", "stop_asked_at")}
    return run_row(run) | more | {"done": done}


def case_out(case: DrillCase) -> dict[str, Any]:
    """Return a case as ``CaseOut`` gives it."""
    return {name: getattr(case, name) for name in CaseOut.model_fields}
