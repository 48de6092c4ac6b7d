"""The table of cells: every row is there, ids are unique, what is not run is named with its reason."""

import pytest

from chaos_app.drills.cells import Seen, allowed, cells
from chaos_app.drills.left_out import left_out
from chaos_app.drills.names import Fault, Klass, Verdict
from chaos_app.drills.options import Options, chosen
from chaos_app.drills.rows import BY_ID, ROWS
from core.boundaries import Boundary

SEEN = (
    Seen(boundary="E05", position="before", call="act"),
    Seen(boundary="E05", position="before", call="before"),
    Seen(boundary="C01", position="before", nth=1),
    Seen(boundary="C01", position="before", nth=4),
)


def test_every_place_of_the_code_is_a_row():
    assert {str(boundary) for boundary in Boundary} <= BY_ID.keys()


def test_the_core_is_made_of_the_twenty_five_rows_that_carry_the_star():
    assert sum(row.core for row in ROWS) == 25
    assert {cell.row for cell in cells("core")} == {row.id for row in ROWS if row.core}


def test_each_commit_of_the_core_is_drilled_at_all_four_positions():
    positions = {cell.position for cell in cells("core") if cell.row == "E05" and cell.klass == Klass.KEYED}
    assert positions == {"before", "commit-kept", "commit-dropped", "after"}


@pytest.mark.parametrize("suite", ["core", "full"])
def test_no_two_cases_have_one_name(suite):
    found = cells(suite, {("act", Klass.KEYED): SEEN} if suite == "full" else None)
    assert len({cell.id for cell in found}) == len(found) > 100


def test_an_opaque_effect_of_unknown_outcome_may_only_be_held():
    for row in ("E02", "E03", "E04", "E05", "E06", "L06", "A06"):
        assert allowed(row=row, klass=Klass.OPAQUE, fault=Fault.KILL, workload="act") == {Verdict.BLOCKED}
        assert allowed(row=row, klass=Klass.KEYED, fault=Fault.KILL, workload="act") == {Verdict.ONCE}


def test_no_cell_allows_a_violation():
    for cell in cells("core"):
        assert cell.allowed <= {Verdict.ONCE, Verdict.NONE, Verdict.BLOCKED}


def test_the_full_suite_takes_first_and_last_passage_and_the_two_middles_of_a_commit():
    full = [
        cell for cell in cells("full", {("act", Klass.KEYED): SEEN}) if cell.row == "C01" and cell.fault == Fault.KILL
    ]
    made = {(cell.position, cell.hit) for cell in full if cell.workload == "act"}
    assert {("before", 1), ("before", 4), ("commit-kept", 4), ("commit-dropped", 1)} <= made


def test_a_row_takes_the_first_of_its_workloads_that_passes_the_place():
    found = cells("core", {("asked", Klass.KEYED): SEEN})
    assert {cell.workload for cell in found if cell.row == "C01" and cell.klass == Klass.KEYED} == {"asked"}


def test_a_place_that_no_workload_passes_is_left_out_with_its_reason():
    reasons = {(one.row, one.reason) for one in left_out({("act", Klass.KEYED): SEEN})}
    assert ("D02", "No workload of this class passes the place.") in reasons
    assert all(one.reason for one in left_out())


def test_sandboxes_are_killed_where_the_tools_have_some_and_left_out_with_a_reason_where_not():
    walled = {cell.id for cell in chosen(Options(sandbox=True), {}) if cell.fault == Fault.SANDBOX}
    assert {"E03.in_flight.keyed.sandbox", "E04.applied.opaque.sandbox"} <= walled
    assert not {cell.id for cell in chosen(Options(), {})} & walled
    assert "--sandbox" in next(one.reason for one in left_out() if one.fault == Fault.SANDBOX)
    assert not any(one.fault == Fault.SANDBOX for one in left_out(walled=True))


def test_a_death_at_another_call_than_the_drilled_is_not_held_to_the_drilled_one_s_class():
    form = {"row": "E02", "klass": Klass.OPAQUE, "fault": Fault.KILL, "workload": "act"}
    assert allowed(**form) == {Verdict.BLOCKED}
    assert allowed(**form, beside=True) == {Verdict.BLOCKED, Verdict.ONCE}
    assert allowed(**form | {"klass": Klass.KEYED}, beside=True) == {Verdict.ONCE}
