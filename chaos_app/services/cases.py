"""One case as a row: its evidence read, judged, kept with its digest."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import structlog

from chaos_app.drills.evidence import Evidence, evidence_digest, evidence_dump, evidence_load
from chaos_app.drills.judge import judge
from chaos_app.drills.rows import BY_ID
from chaos_app.models import DrillCase, DrillRun

log = structlog.get_logger(__name__)


def evidence_known(stored: Mapping[str, Any], *, run: str, name: str) -> Evidence | None:
    """Return stored evidence; None, and a line in the log, where it is of a form that this process does not know."""
    try:
        evidence = evidence_load(stored)
        if evidence.cell.row in BY_ID:
            return evidence
        why = f"There is no row {evidence.cell.row}."
    except ValueError as error:
        why = str(error)[:500]
    _say_unknown(run, name, why)
    return None


@lru_cache(maxsize=500)
def _say_unknown(run: str, name: str, why: str) -> None:
    """Say it once, however often somebody looks."""
    log.warning("drill_evidence_unknown", run=run, name=name, why=why)


@lru_cache(maxsize=500)
def say_unfit(name: str, what: str, why: str) -> None:
    """Say once what could not be kept, however often it is tried."""
    log.warning("drill_unfit", name=name, what=what, why=why)


def case_store(*, run: DrillRun, name: str, evidence: Evidence) -> DrillCase:
    """Judge evidence and keep both."""
    return DrillCase.objects.create(run=run, name=name, **_judged(evidence))


def case_renew(*, case: DrillCase, evidence: Evidence) -> None:
    """Judge a case again whose evidence has become more."""
    if evidence_digest(evidence) != case.digest:
        DrillCase.objects.filter(pk=case.pk).update(**_judged(evidence))


def _judged(evidence: Evidence) -> dict[str, Any]:
    """Return the fields of a case: what its evidence says, and what the judge says of it."""
    said, cell = judge(evidence), evidence.cell
    return {
        "cell": cell.id,
        "row": cell.row,
        "position": cell.position,
        "klass": cell.klass,
        "fault": cell.fault,
        "workload": cell.workload,
        "hit": cell.hit,
        "repeat": evidence.repeat,
        "bug": evidence.planted_bug,
        "verdict": said.verdict,
        "as_allowed": said.as_allowed,
        "is_violation": said.is_violation,
        "cause": said.cause,
        "broken": [asdict(one) for one in said.broken],
        "takeover": said.takeover,
        "takeover_bound": said.takeover_bound,
        "settled": said.settled,
        "settled_bound": said.settled_bound,
        "rules": len(evidence.rules),
        "judge": said.judge,
        "code": str(evidence.versions.get("code", ""))[:120],
        "evidence": evidence_dump(evidence),
        "digest": evidence_digest(evidence),
        "ended_at": datetime.fromtimestamp(evidence.ended, UTC),
    }
