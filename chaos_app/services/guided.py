"""Starting the guided run, giving it orders, and noticing that it is over."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from secrets import randbelow
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from chaos_app.guided.stages import STAGES
from chaos_app.guided.state import order_give, state_read
from chaos_app.models import RUNNING, DrillRun
from chaos_app.services.launch import DrillsRefused, drills_refused, launches_locked, reaped, stop_told
from core.clock import database_now
from core.errors import Conflict, NotFound
from core.hints import after_commit
from core.models import Workspace
from tasks_app.keeper.process import exists
from tasks_app.record.append import append_administration
from tasks_app.record.events import DrillEnded, DrillLaunched

SUITE = "guided"
ORDERS = frozenset({"approve", "kill", "settle", "unprotected", "end"})


def guided_launch(*, workspace: Workspace, user: User, actor: str) -> DrillRun:
    """Start one, or return the one that this person has running. Raises DrillsRefused, Conflict."""
    guided_follow()
    with transaction.atomic():
        launches_locked()
        if why := drills_refused(workspace=workspace):
            raise DrillsRefused(why)
        mine = DrillRun.objects.filter(workspace=workspace, suite=SUITE, launched_by=user, state__in=RUNNING).first()
        if mine is not None:
            return mine
        if DrillRun.objects.filter(state__in=RUNNING).count() >= settings.HANDRAIL_DRILLS_AT_ONCE:
            raise Conflict("As many drills are running as may run at once; this one was not started.")
        fixed = {"suite": SUITE, "seed": randbelow(2**31), "launched_by": user, "launched_at": database_now()}
        run = DrillRun.objects.create(workspace=workspace, state="running", **fixed)
        run.refresh_from_db()
        said = DrillLaunched(run=str(run.pk), suite=SUITE, seed=run.seed, selection={})
        append_administration(workspace=workspace.pk, events=[said], actor=actor)
        after_commit(lambda: _start(run.pk))
    return run


def _start(pk: UUID) -> None:
    """Start the controller; it belongs to nobody, and its folder carries its process id."""
    parent: Path = settings.VAR_DIR / "drills"
    parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "guided"]
    with (parent / f"{pk}.log").open("ab") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=dict(os.environ),
            cwd=settings.BASE_DIR,
            start_new_session=True,
        )
    folder = str(parent / f"run-{process.pid}")
    DrillRun.objects.filter(folder=folder).exclude(pk=pk).update(folder="")  # an earlier process had that number
    DrillRun.objects.filter(pk=pk).update(pid=process.pid, folder=folder, command="manage.py guided")
    reaped(process)


def guided_mine(*, workspace: Workspace, user: User) -> UUID | None:
    """Return the run that this person has under way."""
    guided_follow()
    mine = DrillRun.objects.filter(workspace=workspace, suite=SUITE, launched_by=user, state__in=RUNNING)
    return mine.values_list("pk", flat=True).first()


def guided_order(*, workspace: Workspace, run: UUID, order: Mapping[str, str]) -> DrillRun:
    """Give an order; the controller takes it where it fits the stage, and leaves it aside otherwise.

    Raises NotFound, Conflict where the run is over.
    """
    found = DrillRun.objects.filter(workspace=workspace, pk=run, suite=SUITE).first()
    if found is None or order.get("do") not in ORDERS:
        raise NotFound
    if not found.is_running:
        raise Conflict("This run is over; start another.")
    order_give(Path(found.folder), dict(order))
    return found


def guided_follow() -> int:
    """Close the rows of guided runs that are over (a finder of the sweeper); returns how many.

    One that was asked to stop before it had a folder is told now.
    """
    closed = 0
    for run in DrillRun.objects.filter(suite=SUITE, state__in=RUNNING, pid__isnull=False):
        if run.pid and exists(run.pid):
            if run.stop_asked_at:
                stop_told(run)
            continue
        state = state_read(Path(run.folder)) or {}
        closed += _close(run, stage=str(state.get("stage", "failed")))
    return closed


def _close(run: DrillRun, *, stage: str) -> int:
    told = STAGES.get(stage, STAGES["failed"])
    state = "ended" if stage == "over" else "stopped"
    now = database_now()
    with transaction.atomic():
        # Another sweeper may have closed it.
        fresh = DrillRun.objects.filter(pk=run.pk, state__in=RUNNING)
        if not fresh.update(state=state, sentence=told.title + ".", ended_at=now, began_at=run.launched_at):
            return 0
        event = DrillEnded(run=str(run.pk), state=state, sentence=told.title + ".")
        append_administration(workspace=run.workspace_id, events=[event], actor="system")
    return 1
