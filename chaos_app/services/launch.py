"""Launching and stopping drills: who may, where, how many; the controller is a process of its own."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from secrets import randbelow
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from chaos_app.drills.cells import Cell, cells, slug
from chaos_app.drills.cells_walled import of_sandboxes
from chaos_app.drills.names import Fault
from chaos_app.drills.options import unknown_cells
from chaos_app.drills.permit import unwalled
from chaos_app.drills.rows import BY_ID, EFFECTS
from chaos_app.models import RUNNING, DrillRun, DrillSwitch
from chaos_app.selectors.targets import target_offered
from core.clock import database_now
from core.errors import Conflict, Forbidden, NotFound
from core.hints import after_commit
from core.models import Workspace
from core.standstill import lock_for_all
from tasks_app.record.append import append_administration
from tasks_app.record.events import DrillLaunched, SwitchChanged
from tasks_app.services import intake

TOKEN = "HANDRAIL_DRILL_TOKEN"  # noqa: S105 - the run's id, by which its files are found again
LAUNCH_LOCK = 7301  # one launch at a time is judged against the limit
SUITES = ("core", "full", "soak")
OPTIONS = {
    "cell": "--cell",
    "row": "--boundary",
    "klass": "--class",
    "fault": "--fault",
    "kills": "--kills",
    "target": "--target",
}
WALLED = "--sandbox"
NAME = re.compile(r"[A-Za-z0-9_.-]{1,160}")  # of a case
NARROWING = ("cell", "row", "klass", "fault")


class DrillsRefused(Forbidden):
    """No drill starts here."""

    code = "drills-refused"


def drills_refused(*, workspace: Workspace) -> str:
    """Say why no drill may start: the environment, or the switch; "" where one may."""
    here = settings.HANDRAIL_ENVIRONMENT
    if here.lower() in settings.HANDRAIL_DRILLS_REFUSED_IN:
        return f"Drills are refused in the environment {here!r} (HANDRAIL_DRILLS_REFUSED_IN)."
    switch = DrillSwitch.objects.filter(workspace=workspace).select_related("set_by").first()
    return f"{switch.set_by.get_username()} switched drills off: {switch.reason}" if switch else ""


def drill_launch(
    *,
    workspace: Workspace,
    user: User | None,
    actor: str,
    suite: str,
    selection: Mapping[str, Any] | None = None,
    seed: int | None = None,
    slot_at: datetime | None = None,
) -> DrillRun:
    """Start a run. ``selection``: cell, row, klass, fault (lists), kills (of ``soak``), target (a path), sandbox.

    Raises DrillsRefused, Conflict where as many run as may, InvalidInput.
    """
    chosen = launch_checked(suite, selection or {})
    with transaction.atomic():
        launches_locked()
        if why := drills_refused(workspace=workspace):
            raise DrillsRefused(why)
        if DrillRun.objects.filter(state__in=RUNNING).count() >= settings.HANDRAIL_DRILLS_AT_ONCE:
            raise Conflict("As many drills are running as may run at once; this one was not started.")
        run = DrillRun.objects.create(
            workspace=workspace,
            suite=suite,
            selection=chosen,
            seed=seed if seed is not None else randbelow(2**31),
            launched_by=user,
            launched_at=database_now(),
        )
        run.refresh_from_db()
        said = DrillLaunched(run=str(run.pk), suite=suite, seed=run.seed, selection=chosen)
        slotted = DrillLaunched(**{**vars(said), "slot": slot_at.isoformat()}) if slot_at else said
        append_administration(workspace=workspace.pk, events=[slotted], actor=actor)
        after_commit(lambda: _start(run.pk))
    return run


def launches_locked() -> None:
    """Wait for launches that are being judged; until the end of the transaction, others wait for this one."""
    lock_for_all(LAUNCH_LOCK)


def launch_checked(suite: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of a choice a launch takes. Raises InvalidInput for what it cannot run."""
    if suite not in SUITES:
        raise intake.field_error("suite", f"must be one of {', '.join(SUITES)}.")
    chosen = {name: value for name, value in given.items() if name in {*OPTIONS, "sandbox"} and value}
    misfit_checked(suite, chosen)
    known_checked(chosen)
    kills = chosen.get("kills")
    if kills is not None and not 1 <= int(kills) <= settings.HANDRAIL_DRILL_CASES:
        raise intake.field_error("kills", f"must be between 1 and {settings.HANDRAIL_DRILL_CASES}.")
    if is_walled(chosen) and (why := unwalled()):
        raise intake.field_error("sandbox", why)
    target_checked(suite, str(chosen.get("target", "")))
    return chosen


def misfit_checked(suite: str, chosen: Mapping[str, Any]) -> None:
    """Refuse what the suite cannot do, so that nobody believes that it was done. Raises InvalidInput."""
    if suite != "soak" and "kills" in chosen:
        raise intake.field_error("kills", "is for a soak only.")
    for name in NARROWING if suite == "soak" else ():
        if name in chosen:
            raise intake.field_error(name, "cannot be asked of a soak: it draws its places by chance.")


def known_checked(chosen: Mapping[str, Any]) -> None:
    """Refuse a place, promise, fault or case that the table does not have. Raises InvalidInput."""
    known = {"row": set(BY_ID), "klass": set(map(str, EFFECTS)), "fault": set(map(slug, Fault))}
    for name, there in known.items():
        if strange := [one for one in chosen.get(name, ()) if one not in there]:
            raise intake.field_error(name, f"has what the table does not have: {strange[0]!r}.")
    for cell in chosen.get("cell", ()):
        if unknown_cells([cell]) or not NAME.fullmatch(cell):
            raise intake.field_error("cell", f"is no case: {cell!r}.")


def target_checked(suite: str, target: str) -> None:
    """Take only what this installation offers: the path is imported. Raises InvalidInput."""
    if target and suite == "soak":
        raise intake.field_error("suite", "must be core or full: a soak is of the built-in agents.")
    if target and target_offered(target) is None:
        raise intake.field_error("target", "is not offered here.")


def command_of(run: DrillRun) -> list[str]:
    """Return the arguments of ``manage.py`` that run it."""
    command = ["drill", "run", "--suite", run.suite, "--seed", str(run.seed)]
    for name, option in OPTIONS.items():
        value = run.selection.get(name)
        for one in value if isinstance(value, list) else [value] if value else []:
            command += [option, str(one)]
    command += [WALLED] if is_walled(run.selection) else []
    return [*command, "--minutes", f"{settings.HANDRAIL_DRILL_MINUTES:g}"]


def is_walled(selection: Mapping[str, Any]) -> bool:
    """Whether a run's tools are in sandboxes: as asked for, or because a sandbox is to be killed."""
    killed = slug(Fault.SANDBOX)
    of_cells = any(killed in str(cell).split(".") for cell in selection.get("cell") or ())
    return bool(selection.get("sandbox")) or killed in (selection.get("fault") or ()) or of_cells


def _start(pk: UUID) -> None:
    """Start the controller. It belongs to nobody: the page may be closed, the web process may end."""
    run = DrillRun.objects.get(pk=pk)
    folder: Path = settings.VAR_DIR / "drills"
    folder.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {TOKEN: str(run.pk)}
    try:
        with (folder / f"{run.pk}.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, str(settings.BASE_DIR / "manage.py"), *command_of(run)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                cwd=settings.BASE_DIR,
                start_new_session=True,
            )
    except OSError as error:
        DrillRun.objects.filter(pk=pk).update(state="failed", why=f"It could not be started: {error}")
        return
    DrillRun.objects.filter(pk=pk).update(pid=process.pid, command=f"manage.py {' '.join(command_of(run))}")
    reaped(process)


def reaped(process: subprocess.Popen[bytes]) -> None:
    """Wait for it beside everything else, so that no zombie is left; it may well outlive us."""
    import threading

    threading.Thread(target=process.wait, name=f"drill-{process.pid}", daemon=True).start()


def drill_stop(*, workspace: Workspace, run: UUID, user: User) -> DrillRun:
    """Ask a run to stop and clean up; asking again changes nothing. Raises NotFound."""
    row = DrillRun.objects.filter(workspace=workspace, pk=run).first()
    if row is None:
        raise NotFound
    if row.is_running and row.stop_asked_at is None:
        row.stop_asked_at, row.stop_asked_by = database_now(), user
        row.save(update_fields=["stop_asked_at", "stop_asked_by"])
        stop_told(row)
    return row


def stop_follow(run: DrillRun) -> None:
    """Leave word for the controller of a run that is to stop: it was asked to, or drills were switched off since.

    Whoever switches them off asks each run afterwards, and may die before.
    """
    if run.stop_asked_at is None:
        off = DrillSwitch.objects.filter(workspace=run.workspace_id, set_at__gte=run.launched_at).first()
        if off is not None:
            run.stop_asked_at, run.stop_asked_by = database_now(), off.set_by
            run.save(update_fields=["stop_asked_at", "stop_asked_by"])
    if run.stop_asked_at:
        stop_told(run)


def stop_told(run: DrillRun) -> None:
    """Leave word in the run's folder; its controller looks there."""
    if run.folder and Path(run.folder).is_dir():
        (Path(run.folder) / "stop").touch()


def drills_switch(*, workspace: Workspace, user: User, actor: str, off: bool, reason: str) -> None:
    """Switch drills off (running ones are asked to stop) or on again. Raises InvalidInput."""
    reason = intake.text_checked("reason", reason, limit=500)
    with transaction.atomic():
        launches_locked()  # a launch that has read no switch is there to be stopped, one that follows reads it
        if off:
            made = {"reason": reason, "set_by": user, "set_at": database_now()}
            DrillSwitch.objects.update_or_create(workspace=workspace, defaults=made)
        else:
            DrillSwitch.objects.filter(workspace=workspace).delete()
        event = SwitchChanged(what="drills off", after_change={"reason": reason} if off else None, reason=reason)
        append_administration(workspace=workspace.pk, events=[event], actor=actor)
    for run in DrillRun.objects.filter(workspace=workspace, state__in=RUNNING) if off else ():
        drill_stop(workspace=workspace, run=run.pk, user=user)


TOLD: dict[str, Callable[[Cell], str]] = {
    "row": lambda cell: cell.row,
    "klass": lambda cell: str(cell.klass),
    "fault": lambda cell: slug(cell.fault),
}


def preview(*, suite: str, selection: Mapping[str, Any]) -> list[str]:
    """Return the ids of the cases that a run would have, as far as the table alone knows; named ones first.

    None for a soak: its places are drawn when it runs, from what is passed then.
    """
    if suite == "soak":
        return []
    named = [cell for cell in selection.get("cell") or () if not unknown_cells([cell])]
    wanted = {name: selection[name] for name in TOLD if selection.get(name)}
    if named and not wanted:
        return named
    found = cells(suite)
    found += tuple(of_sandboxes(suite)) if is_walled(selection) else ()
    fit = [cell.id for cell in found if all(TOLD[name](cell) in wanted[name] for name in wanted)]
    return list(dict.fromkeys([*named, *fit]))
