"""Evidence survives being stored, and its digest is that of what it says."""

import json
from dataclasses import replace

import pytest

from chaos_app.drills.evidence import (
    CellRef,
    Effect,
    Event,
    Evidence,
    FaultLog,
    Mark,
    TaskRecord,
    Witness,
    evidence_digest,
    evidence_dump,
    evidence_load,
)
from chaos_app.drills.names import Fault, Klass, Proof, Stage

CELL = CellRef(id="E04.applied.keyed", row="E04", position="applied", klass=Klass.KEYED, fault=Fault.KILL, workload="w")
ONE = Evidence(
    cell=CELL,
    run="r-1",
    seed=7,
    began=1.0,
    ended=9.5,
    tasks=(
        TaskRecord(
            task="t", role="task", status="completed", events=(Event(seq=1, kind="k", data={"a": [1]}, at=2.25),)
        ),
    ),
    witness=Witness(effects=(Effect(at=3.5, system="tickets", operation="open", reference="T-1", key="k"),)),
    faults=(
        FaultLog(
            row="E04",
            position="applied",
            fault=Fault.KILL,
            marks=(Mark(stage=Stage.LANDED, at=4.0, pid=3, exit_status="killed by SIGKILL", proof=Proof.EXIT_STATUS),),
        ),
    ),
)


def test_evidence_comes_back_equal_from_a_file():
    assert evidence_load(json.loads(json.dumps(evidence_dump(ONE)))) == ONE


def test_the_digest_changes_with_any_change():
    assert (
        evidence_digest(replace(ONE, seed=8))
        != evidence_digest(ONE)
        == evidence_digest(evidence_load(evidence_dump(ONE)))
    )


def test_what_is_no_evidence_is_refused():
    with pytest.raises(ValueError, match="not drill evidence"):
        evidence_load({"format": "other"})
