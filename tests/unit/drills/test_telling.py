"""What a report says of all cases together: how much was drilled, who is held and why, what they are compared with."""

from dataclasses import replace

from chaos_app.drills.evidence import Control, Evidence, Note
from chaos_app.drills.names import Klass, Verdict
from chaos_app.drills.results import Result, results_make
from chaos_app.drills.script import good
from chaos_app.drills.telling import compared, covered, held


def results(*evidence: Evidence) -> tuple[Result, ...]:
    return results_make(evidence, run="run-1", suite="core", seed=7).results


def at(row: str, klass: Klass = Klass.OPAQUE) -> Evidence:
    made = good(klass).evidence()
    return replace(made, cell=replace(made.cell, id=f"{row}.{klass}", row=row))


def test_what_is_held_is_counted_by_its_reason_and_never_lumped_together():
    told = held(results(at("E04"), at("E05"), at("A05"), at("E10"), at("E04", Klass.KEYED)))
    assert [(one.what, one.count) for one in told] == [
        ("no program can know", 2),
        ("the permission is gone", 1),
        ("what is read back contradicts the answer", 1),
    ]


def test_nobody_held_is_no_reason():
    assert held(results(at("E04", Klass.KEYED))) == []


def test_an_unprotected_run_that_stands_beside_several_cases_counts_once():
    caught = Control(kind="unprotected", end=Verdict.REPEATED, notes=(Note(at=1.0, who="first", what="paid"),))
    spared = Control(kind="unprotected", end=Verdict.ONCE, notes=(Note(at=2.0, who="first", what="paid"),))
    one, other = at("E04"), at("E05")
    cases = results(
        replace(one, controls=(*one.controls, caught)),
        replace(other, controls=(*other.controls, caught)),
        replace(at("E03"), controls=(spared,)),
    )
    twins, naive = compared(cases)
    assert (twins.count, twins.of) == (2, 2)
    assert (naive.count, naive.of) == (1, 2)


def test_how_much_of_the_table_was_drilled_is_said_with_the_faults():
    assert covered(results(at("E04"), at("E05"))).startswith("2 of ")
    assert "2 cases: 2 by SIGKILL." in covered(results(at("E04"), at("E05")))
