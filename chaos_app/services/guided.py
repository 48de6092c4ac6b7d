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
from chaos_app.services.heard import NEVER_BEGAN, NOTHING_MORE, is_alive, is_overdue, never_began
from chaos_app.services.launch import DrillsRefused, drill_stop, drills_refused, launches_locked, reaped, stop_follow
from core.clock import database_now
from core.errors import Conflict, NotFound
from core.hints import after_commit
from core.models import Workspace
from tasks_app.record.append import append_administration
from tasks_app.record.events import DrillEnded, DrillLaunched

SUITE = "guided"
MINUTES = 120.0  # no person stays longer: at each of its stages it waits a quarter of an hour
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
        run = DrillRun.objects.create(workspace=workspace, **fixed)
        run.refresh_from_db()
        # Named before it is there: whoever starts the controller may die before it could note where that one writes.
        run.folder = str(_parent() / f"run-{run.pk.hex[-12:]}")
        run.save(update_fields=["folder"])
        said = DrillLaunched(run=str(run.pk), suite=SUITE, seed=run.seed, selection={})
        append_administration(workspace=workspace.pk, events=[said], actor=actor)
        after_commit(lambda: _start(run))
    return run


def _parent() -> Path:
    folder: Path = settings.VAR_DIR / "drills"
    return folder


def _start(run: DrillRun) -> None:
    """Start the controller; it belongs to nobody. That it has begun is seen by its folder."""
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "guided", "--folder", Path(run.folder).name]
    try:
        _parent().mkdir(parents=True, exist_ok=True)
        with (_parent() / f"{run.pk}.log").open("ab") as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=dict(os.environ),
                cwd=settings.BASE_DIR,
                start_new_session=True,
            )
    except OSError as error:
        _close(run, stage="failed", why=f"It could not be started: {error}")
        return
    DrillRun.objects.filter(pk=run.pk).update(pid=process.pid, command="manage.py guided")
    reaped(process)


def guided_mine(*, workspace: Workspace, user: User) -> UUID | None:
    """Return the run that this person has under way."""
    guided_follow()
    mine = DrillRun.objects.filter(workspace=workspace, suite=SUITE, launched_by=user, state__in=RUNNING)
    return mine.values_list("pk", flat=True).first()


def guided_order(*, workspace: Workspace, run: UUID, order: Mapping[str, str], user: User) -> DrillRun:
    """Give an order; the controller takes it where it fits the stage, and leaves it aside otherwise.

    Raises NotFound, Conflict where the run is over, or nobody is there to take an order.
    """
    found = DrillRun.objects.filter(workspace=workspace, pk=run, suite=SUITE).first()
    if found is None or order.get("do") not in ORDERS:
        raise NotFound
    if not found.is_running:
        raise Conflict("This run is over; start another.")
    if not found.folder or not Path(found.folder).is_dir():
        if order["do"] == "end":
            return drill_stop(workspace=workspace, run=run, user=user)  # told once it is there, or ended without it
        raise Conflict("This run has not begun yet, or its files are no longer here. Nothing was done.")
    order_give(Path(found.folder), dict(order))
    return found


def guided_follow() -> int:
    """Close the rows of guided runs that are over (a finder of the sweeper); returns how many.

    One that was asked to stop before it had a folder is told now.
    """
    closed = 0
    for run in DrillRun.objects.filter(suite=SUITE, state__in=RUNNING):
        alive = is_alive(run)
        if alive:
            DrillRun.objects.filter(pk=run.pk, state="starting").update(state="running")
            stop_follow(run)
        elif alive is False:
            state = state_read(Path(run.folder)) or {}
            closed += _close(run, stage=str(state.get("stage", "failed")))
        elif never_began(run):
            closed += _close(run, stage="failed", why=NEVER_BEGAN)
        elif run.state == "running" and is_overdue(run, minutes=MINUTES):
            closed += _close(run, stage="failed", why=NOTHING_MORE)
    return closed


def _close(run: DrillRun, *, stage: str, why: str = "") -> int:
    told = STAGES.get(stage, STAGES["failed"])
    state = "failed" if why else "ended" if stage == "over" else "stopped"
    now = database_now()
    with transaction.atomic():
        # Another sweeper may have closed it.
        fresh = DrillRun.objects.filter(pk=run.pk, state__in=RUNNING)
        if not fresh.update(state=state, why=why, sentence=told.title + ".", ended_at=now, began_at=run.launched_at):
            return 0
        event = DrillEnded(run=str(run.pk), state=state, sentence=told.title + ".")
        append_administration(workspace=run.workspace_id, events=[event], actor="system")
    return 1
