"""The end of a run: its stored evidence judged as a whole, what it means, who is told."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from chaos_app.drills.caught import Caught
from chaos_app.drills.evidence import Evidence, evidence_load
from chaos_app.drills.left_out import LeftOut
from chaos_app.drills.results import Results, results_make
from chaos_app.models import DrillAlert, DrillRun
from chaos_app.services.cases import evidence_known
from core.clock import database_now
from tasks_app.record.append import append_administration
from tasks_app.record.events import DrillEnded


def moment(seconds: object) -> datetime | None:
    """Return a time as a controller writes it; None for anything else."""
    return datetime.fromtimestamp(float(seconds), UTC) if isinstance(seconds, int | float) else None


def read_json(file: Path) -> Any:
    """Return what a controller says of its run. A NUL, which no row can hold, is shown as what it is: not a letter."""
    return json.loads(file.read_text().replace("\\u0000", "\\ufffd"))


def run_ended(run: DrillRun, said: Mapping[str, Any], *, unfit: Mapping[str, str]) -> None:
    """Judge a run as a whole, and say that it is over. ``unfit``: the files that could not be kept, each with why.

    The caller has set its state, and saves it.
    """
    cases = run.cases.order_by("pk").values_list("name", "evidence")
    read = {name: evidence_known(stored, run=str(run.pk), name=name) for name, stored in cases}
    unread = {name for name, evidence in read.items() if evidence is None} | set(unfit)
    # Beside what the run itself left out: also whoever judges the stored cases again must see that some are not there.
    left_out = _read_list(Path(run.folder) / "left-out.json") + [_unfit(name, why) for name, why in unfit.items()]
    run.caught = _caught(said.get("caught"))
    readable = [evidence for evidence in read.values() if evidence is not None]
    results = _results(run, readable, left_out, unread=len(unread))
    run.ended_at = moment(said.get("ended")) or database_now()
    run.left_out, run.planted = left_out, [asdict(one) for one in results.planted]
    run.exit_code, run.sentence, run.summary = results.exit_code, results.sentence, results.summary
    event = DrillEnded(run=str(run.pk), state=run.state, sentence=results.sentence, exit_code=run.exit_code)
    append_administration(workspace=run.workspace_id, events=[event], actor="system")
    if results.violations:
        DrillAlert.objects.get_or_create(run=run, defaults={"at": database_now(), "sentence": _alert(results)})


def _unfit(name: str, why: str) -> dict[str, Any]:
    """Return a case whose evidence could not be kept as one that does not count; its name has its parts."""
    cell = name.rpartition("/")[2]
    row, position, klass, fault = [*cell.split("."), "", "", "", ""][:4]
    reason = f"The evidence of {cell} could not be kept: {why}"
    return asdict(LeftOut(row=row, position=position, klass=klass, fault=fault, reason=reason, cut=True))


def _alert(results: Results) -> str:
    worst = results.violations[0]
    return f"{results.summary} First: {worst.id}, {worst.verdict}. {worst.judgement.cause}"


def _read_list(file: Path) -> list[dict[str, Any]]:
    try:
        return [asdict(LeftOut(**one)) for one in read_json(file)]
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
