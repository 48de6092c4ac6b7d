"""From the files that a run's controller writes to rows: each piece of evidence judged once, kept with its digest.

A finder of every sweeper. Two may look at one run: each locks the run's row first, and passes over a locked one.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction

from chaos_app.drills.caught import Caught
from chaos_app.drills.evidence import Evidence, evidence_load
from chaos_app.drills.left_out import LeftOut
from chaos_app.drills.results import Results, results_make
from chaos_app.models import RUNNING, DrillAlert, DrillRun
from chaos_app.services.cases import case_renew, case_store, evidence_known
from chaos_app.services.launch import stop_told
from core.clock import database_now
from core.models import Workspace
from tasks_app.keeper.process import exists
from tasks_app.record.append import append_administration
from tasks_app.record.events import DrillEnded, DrillLaunched

AT_ONCE = 40  # pieces of evidence taken in one look
UNHEARD_SECONDS = 60.0  # until a controller that never began counts as failed


def drills_collect() -> int:
    """Take in what runs have written since the last look; returns how many pieces of evidence."""
    parent: Path = settings.VAR_DIR / "drills"
    taken = 0
    if parent.is_dir():
        for file in sorted(parent.glob("*/run.json")):
            taken += _collect(file.parent)
    _unheard()
    return taken


def _collect(folder: Path) -> int:
    said = _read(folder / "run.json")
    if said is None:
        return 0
    with transaction.atomic():
        run = _run_of(folder, said)
        if run is None or not run.is_running:
            return 0
        taken, fresh = 0, _fresh(run, folder)
        while fresh and taken < AT_ONCE:
            taken += _case(run, fresh.pop(0))
        _follow(run, said, is_all=not fresh)
    return taken


def _read(file: Path) -> dict[str, Any] | None:
    try:
        said = json.loads(file.read_text())
    except (OSError, ValueError):  # being written, or cleaned away
        return None
    return said if isinstance(said, dict) else None


def _run_of(folder: Path, said: Mapping[str, Any]) -> DrillRun | None:
    """Return the run's row, locked; made anew for a run that was launched on the command line."""
    rows = DrillRun.objects.select_for_update(skip_locked=True)
    known = DrillRun.objects.filter(folder=str(folder)).first()
    if known and not known.is_running and known.began_at != _moment(said.get("began")):
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
            "launched_at": _moment(said.get("began")) or database_now(),
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


def _moment(seconds: object) -> datetime | None:
    return datetime.fromtimestamp(float(seconds), UTC) if isinstance(seconds, int | float) else None


def _fresh(run: DrillRun, folder: Path) -> list[Path]:
    known = set(run.cases.values_list("name", flat=True))
    files = [file for part in ("evidence", "planted") for file in sorted((folder / part).glob("*.json"))]
    return [file for file in files if _name(file) not in known]


def _name(file: Path) -> str:
    return f"{file.parent.name}/{file.stem}"


def _case(run: DrillRun, file: Path) -> int:
    evidence = _evidence(run, file)
    if evidence is None:
        return 0
    case_store(run=run, name=_name(file), evidence=evidence)
    return 1


def _evidence(run: DrillRun, file: Path) -> Evidence | None:
    """Return what a file holds; None where it is being written, or is of a version that is not known here."""
    stored = _read(file)
    return evidence_known(stored, run=str(run.pk), name=_name(file)) if stored is not None else None


def _made_whole(run: DrillRun) -> None:
    """Judge again what has changed: a run lays controls and rules beside its cases once all have been played."""
    for case in run.cases.only("name", "digest"):
        evidence = _evidence(run, Path(run.folder) / f"{case.name}.json")
        if evidence is not None:
            case_renew(case=case, evidence=evidence)


def _follow(run: DrillRun, said: Mapping[str, Any], *, is_all: bool) -> None:
    """Bring the row up to what the controller says; a run is over once all that it wrote is in."""
    state = str(said.get("state", "running"))
    run.began_at = run.began_at or _moment(said.get("began"))
    run.pid = said.get("pid") or run.pid
    run.command = str(said.get("command") or run.command)
    run.versions, run.cells = said.get("versions") or {}, said.get("cells") or []
    run.why = str(said.get("why") or "")
    if state in RUNNING and not (run.pid and exists(run.pid)):
        state, run.why = "failed", "Its controller ended before the run did; what it had written is kept."
    if run.stop_asked_at:
        stop_told(run)
    run.state = state if state in {"ended", "stopped", "failed"} and is_all else "running"
    if not run.is_running:
        _made_whole(run)
        _end(run, said)
    run.save()


def _end(run: DrillRun, said: Mapping[str, Any]) -> None:
    cases = run.cases.order_by("pk").values_list("name", "evidence")
    read = {name: evidence_known(stored, run=str(run.pk), name=name) for name, stored in cases}
    unread = [name for name, evidence in read.items() if evidence is None]
    unread += map(_name, _fresh(run, Path(run.folder)))
    left_out = _read_list(Path(run.folder) / "left-out.json")
    run.caught = _caught(said.get("caught"))
    readable = [evidence for evidence in read.values() if evidence is not None]
    results = _results(run, readable, left_out, unread=len(unread))
    run.ended_at = _moment(said.get("ended")) or database_now()
    run.left_out, run.planted = left_out, [asdict(one) for one in results.planted]
    run.exit_code, run.sentence, run.summary = results.exit_code, results.sentence, results.summary
    event = DrillEnded(run=str(run.pk), state=run.state, sentence=results.sentence, exit_code=run.exit_code)
    append_administration(workspace=run.workspace_id, events=[event], actor="system")
    if results.violations:
        DrillAlert.objects.get_or_create(run=run, defaults={"at": database_now(), "sentence": _alert(results)})


def _alert(results: Results) -> str:
    worst = results.violations[0]
    return f"{results.summary} First: {worst.id}, {worst.verdict}. {worst.judgement.cause}"


def _read_list(file: Path) -> list[dict[str, Any]]:
    try:
        return [asdict(LeftOut(**one)) for one in json.loads(file.read_text())]
    except (OSError, ValueError, TypeError):
        return []


def _caught(said: object) -> list[dict[str, Any]] | None:
    try:
        return [asdict(Caught(**one)) for one in said] if isinstance(said, list) else None
    except TypeError:  # of another version
        return None


def run_results(run: DrillRun) -> Results:
    """Judge the stored evidence of a run again, whole. Raises ValueError where some is of another version."""
    stored = run.cases.order_by("pk").values_list("evidence", flat=True)
    return _results(run, [evidence_load(one) for one in stored], run.left_out)


def _results(
    run: DrillRun, evidence: Sequence[Evidence], left_out: Sequence[Mapping[str, Any]], *, unread: int = 0
) -> Results:
    return results_make(
        evidence,
        run=Path(run.folder).name or str(run.pk),
        suite=run.suite,
        seed=run.seed,
        left_out=[LeftOut(**one) for one in left_out],
        caught=None if run.caught is None else [Caught(**one) for one in run.caught],
        unread=unread,
        broke_off=run.state == "failed",
        command=run.command,
        versions=run.versions,
    )


def _unheard() -> None:
    """A run whose controller never wrote anything has failed; its log says why."""
    for run in DrillRun.objects.filter(state="starting", folder=""):
        waited = (database_now() - run.launched_at).total_seconds()
        if waited > UNHEARD_SECONDS or (run.pid and waited > 2 and not exists(run.pid)):
            why = "Its controller ended before it began."
            DrillRun.objects.filter(pk=run.pk, state="starting").update(
                state="failed", why=why, ended_at=database_now()
            )
