"""From the files that a run's controller writes to rows: each piece of evidence judged once, kept with its digest.

A finder of every sweeper. Two may look at one run: each locks the run's row first, and passes over a locked one.
"""

import json
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction

from chaos_app.drills.evidence import Evidence
from chaos_app.models import RUNNING, DrillRun
from chaos_app.services.cases import case_renew, case_store, evidence_known, say_unfit
from chaos_app.services.guided import SUITE as GUIDED
from chaos_app.services.heard import NEVER_BEGAN, NOTHING_MORE, is_alive, is_overdue, never_began
from chaos_app.services.launch import stop_follow
from chaos_app.services.run_end import moment, read_json, run_ended
from core.clock import database_now
from core.models import Workspace
from tasks_app.keeper.process import exists
from tasks_app.record.append import append_administration
from tasks_app.record.events import DrillLaunched

AT_ONCE = 40  # pieces of evidence taken in one look
ENDS_WITHIN = 30.0  # minutes after its last case was begun
UNKNOWN = "it is of another version, or was never whole."
UNFIT = "What it wrote could not be kept; its folder has it, and the sweeper's log says why."
BROKE_OFF = "Its controller ended before the run did; what it had written is kept."
DATABASE_AWAY = (OperationalError, InterfaceError)  # says nothing of what was to be kept


def drills_collect() -> int:
    """Take in what runs have written since the last look; returns how many pieces of evidence."""
    parent: Path = settings.VAR_DIR / "drills"
    taken, heard, unfit = 0, set(), set()
    for file in sorted(parent.glob("*/run.json")) if parent.is_dir() else ():
        said = _read(file)
        if said is None:
            continue
        try:
            taken += _collect(file.parent, said)
        except DATABASE_AWAY:
            raise
        except Exception as error:  # it must keep no other waiting; it is over once it would be
            say_unfit(file.parent.name, "run.json", _words(error))
            unfit.add(str(file.parent))
        else:
            heard.add(str(file.parent))
    _unheard(heard, unfit)
    return taken


def _collect(folder: Path, said: Mapping[str, Any]) -> int:
    with transaction.atomic():
        run = _run_of(folder, said)
        if run is None or not run.is_running:
            return 0
        taken, fresh, unfit = 0, _fresh(run, folder), {}
        while fresh and taken < AT_ONCE:
            file = fresh.pop(0)
            evidence = _evidence(run, file)
            why = UNKNOWN if evidence is None else _kept(partial(case_store, run=run, name=_name(file)), evidence)
            if why:
                unfit[_name(file)] = why
            else:
                taken += 1
        _follow(run, said, unfit, is_all=not fresh)
    return taken


def _kept(keep: Callable[..., object], evidence: Evidence) -> str:
    """Keep the evidence of a case; say why it cannot be: too long, or with what no row or digest can hold."""
    try:
        with transaction.atomic():
            keep(evidence=evidence)
    except DATABASE_AWAY:
        raise
    except Exception as error:
        say_unfit(evidence.cell.id, "evidence", _words(error))
        return _words(error)
    return ""


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:300].replace("\0", "\ufffd")


def _read(file: Path) -> dict[str, Any] | None:
    try:
        said = read_json(file)
    except (OSError, ValueError):  # being written, or cleaned away
        return None
    return said if isinstance(said, dict) else None


def _run_of(folder: Path, said: Mapping[str, Any]) -> DrillRun | None:
    """Return the run's row, locked; made anew for a run that was launched on the command line."""
    rows = DrillRun.objects.select_for_update(skip_locked=True)
    known = DrillRun.objects.filter(folder=str(folder)).first()
    if known and not known.is_running and known.began_at != moment(said.get("began")):
        DrillRun.objects.filter(pk=known.pk).update(folder="")  # its name was given again, to another run
        known = None
    if known:
        return rows.filter(pk=known.pk).first()
    token = _uuid(said.get("token"))
    launched = rows.filter(pk=token, folder="").first() if token else None
    if launched:
        launched.folder = str(folder)
        return launched
    if token and DrillRun.objects.filter(pk=token).exists():
        return None  # another sweeper is at it
    return _from_command_line(folder, said)


def _from_command_line(folder: Path, said: Mapping[str, Any]) -> DrillRun | None:
    workspace = Workspace.objects.order_by("pk").first()
    if workspace is None:
        return None
    made, is_new = DrillRun.objects.get_or_create(
        folder=str(folder),
        defaults={
            "workspace": workspace,
            "suite": str(said.get("suite", ""))[:10],
            "seed": int(said.get("seed") or 0),
            "selection": _selection(said),
            "launched_at": moment(said.get("began")) or database_now(),
        },
    )
    if is_new:
        _launch_told(made, said)
    return DrillRun.objects.select_for_update().get(pk=made.pk)


def _launch_told(run: DrillRun, said: Mapping[str, Any]) -> None:
    """Every launch is in the trail; of one on the command line the operating system alone knows by whom."""
    given = said.get("selection")
    asked = {name: value for name, value in given.items() if value} if isinstance(given, dict) else {}
    event = DrillLaunched(run=str(run.pk), suite=run.suite, seed=run.seed, selection=asked)
    who = f"command:{str(said.get('user') or 'unknown')[:60]}@{str(said.get('host') or 'unknown')[:100]}"
    append_administration(workspace=run.workspace_id, events=[event], actor=who)


def _selection(said: Mapping[str, Any]) -> dict[str, Any]:
    """Return what decides which agents and tools were drilled: a case is run again with the same."""
    selection = said.get("selection")
    given = selection if isinstance(selection, dict) else {}
    return {name: given[name] for name in ("target", "sandbox") if given.get(name)}


def _uuid(given: object) -> UUID | None:
    try:
        return UUID(str(given)) if given else None
    except ValueError:
        return None


def _fresh(run: DrillRun, folder: Path) -> list[Path]:
    known = set(run.cases.values_list("name", flat=True))
    files = [file for part in ("evidence", "planted") for file in sorted((folder / part).glob("*.json"))]
    return [file for file in files if _name(file) not in known]


def _name(file: Path) -> str:
    return f"{file.parent.name}/{file.stem}"


def _evidence(run: DrillRun, file: Path) -> Evidence | None:
    """Return what a file holds; None where it is being written, or is of a version that is not known here."""
    try:
        stored = json.loads(file.read_text())
    except (OSError, ValueError):
        return None
    return evidence_known(stored, run=str(run.pk), name=_name(file)) if isinstance(stored, dict) else None


def _made_whole(run: DrillRun) -> dict[str, str]:
    """Judge again what has changed: a run lays controls and rules beside its cases once all have been played.

    Returns the cases whose new evidence could not be kept, each with why.
    """
    unfit = {}
    for case in run.cases.only("name", "digest"):
        evidence = _evidence(run, Path(run.folder) / f"{case.name}.json")
        if evidence is not None and (why := _kept(partial(case_renew, case=case), evidence)):
            unfit[case.name] = why
    return unfit


def _follow(run: DrillRun, said: Mapping[str, Any], unfit: Mapping[str, str], *, is_all: bool) -> None:
    """Bring the row up to what the controller says; a run is over once all that it wrote is in."""
    state = str(said.get("state", "running"))
    run.began_at = run.began_at or moment(said.get("began"))
    run.pid = said.get("pid") or run.pid
    run.command = str(said.get("command") or run.command)
    run.versions, run.cells = said.get("versions") or {}, said.get("cells") or []
    run.why = str(said.get("why") or "")
    if state in RUNNING and (why := _gone(run)):
        state, run.why = "failed", why
    stop_follow(run)
    run.state = state if state in {"ended", "stopped", "failed"} and is_all else "running"
    if not run.is_running:
        run_ended(run, said, unfit={**unfit, **_made_whole(run)})
    run.save()


def _gone(run: DrillRun) -> str:
    """Say why a run that has not said that it is over is over; "" where it goes on, as far as anybody can tell."""
    alive = is_alive(run)
    if alive is None:
        return NOTHING_MORE if _is_overdue(run) else ""
    return "" if alive else BROKE_OFF


def _is_overdue(run: DrillRun) -> bool:
    return is_overdue(run, minutes=settings.HANDRAIL_DRILL_MINUTES + ENDS_WITHIN)


def _unheard(heard: Collection[str], unfit: Collection[str]) -> None:
    """End the runs that nothing is heard of any more.

    ``heard``: the folders that have just been looked into; ``unfit``: those whose content could not be kept.
    """
    for run in DrillRun.objects.filter(state__in=RUNNING).exclude(suite=GUIDED).exclude(folder__in=heard):
        if run.state == "starting":
            _begun(run)
        elif run.folder in unfit:
            if _is_overdue(run) and not is_alive(run):
                _given_up(run.pk, UNFIT)
        elif why := _gone(run):
            _given_up(run.pk, why)


def _begun(run: DrillRun) -> None:
    """A run whose controller never wrote anything has failed; its log says why."""
    waited = (database_now() - run.launched_at).total_seconds()
    if never_began(run) or (run.pid and waited > 2 and not exists(run.pid)):
        _failed(run.pk, "starting", NEVER_BEGAN)


def _failed(pk: UUID, state: str, why: str) -> None:
    DrillRun.objects.filter(pk=pk, state=state).update(state="failed", why=why, ended_at=database_now())


def _given_up(pk: UUID, why: str) -> None:
    """End a run without its controller; what is stored of it is judged."""
    try:
        with transaction.atomic():
            # Locked by another sweeper: that one is at it.
            run = DrillRun.objects.select_for_update(skip_locked=True).filter(pk=pk, state="running").first()
            if run is not None:
                run.state, run.why = "failed", why
                run_ended(run, {}, unfit={})
                run.save()
    except DATABASE_AWAY:
        raise
    except Exception as error:
        say_unfit(str(pk), "run", _words(error))
        _failed(pk, "running", why)
