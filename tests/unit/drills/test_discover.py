"""What is passed by chance cannot be waited for: it is left out, and said."""

from dataclasses import replace

from chaos_app.drills.cells import Seen, cells
from chaos_app.drills.discover import steady, unlike, unsteady
from chaos_app.drills.left_out import left_out
from chaos_app.drills.names import Fault, Klass, Verdict
from chaos_app.drills.options import Options, needed, soak
from chaos_app.drills.script import good


def test_a_run_that_does_not_end_as_declared_says_what_it_waits_for() -> None:
    evidence = good().evidence()
    (task,) = evidence.tasks
    asked = replace(task, status="waiting", wait={"kind": "approval", "on": ["post"]})
    said = unlike(replace(evidence, tasks=(asked,)), Verdict.STUCK)
    assert said.endswith("ended STUCK: the task is waiting for approval of post.")


KEY = ("act", Klass.KEYED)
ALWAYS = Seen(boundary="C01", position="before", nth=1)
SOMETIMES = Seen(boundary="C01", position="before", nth=2)


def test_only_what_both_runs_passed_is_drilled() -> None:
    assert steady({KEY: (ALWAYS, SOMETIMES)}, {KEY: (ALWAYS,)}) == {KEY: (ALWAYS,)}


def test_what_one_run_passed_is_left_out_with_its_reason() -> None:
    (one,) = unsteady({KEY: (ALWAYS,)}, {KEY: (ALWAYS, SOMETIMES)})
    assert (one.row, one.position) == ("C01", "before")
    assert "in some runs only (passage 2)" in one.reason


def test_a_fault_of_workers_is_not_made_where_a_person_passes_and_the_reason_is_given() -> None:
    seen = {KEY: (Seen(boundary="B02", position="before"), Seen(boundary="L03", position="after"))}
    made = {(cell.row, cell.fault) for cell in cells("full", seen)}
    assert ("L03", Fault.KILL_WORKER) in made
    assert ("B02", Fault.KILL_WORKER) not in made
    assert ("B02", Fault.MESSAGE_LOST) in made
    assert ("L03", Fault.MESSAGE_LOST) not in made
    reasons = {(one.row, one.fault): one.reason for one in left_out(seen)}
    assert "no worker is at this place" in reasons["B02", str(Fault.KILL_WORKER)]


def test_of_named_cells_only_what_may_play_them_is_discovered() -> None:
    named = needed(Options(cells=("D02.before.keyed.kill", "C01.after.readable.kill.chain.hit2")))
    assert named == {
        *(("asked", Klass.KEYED), ("act", Klass.KEYED)),
        *(("act", Klass.READABLE), ("asked", Klass.READABLE), ("chain", Klass.READABLE)),
    }
    assert needed(Options(suite="full")) is None
    assert {name for name, _ in needed(Options()) or ()} == {"act", "asked", "chain", "copied", "waits"}
    assert {name for name, _ in needed(Options(suite="soak")) or ()} == {"act", "asked", "chain"}
    assert needed(Options(cells=("D02.before.keyed.kill",), faults=("kill",))) is None


def test_a_soak_dies_within_a_commit_only_where_there_is_one() -> None:
    seen = (Seen(boundary="A03", position="before"), Seen(boundary="C01", position="before"))
    drawn = {(cell.row, cell.position) for cell in soak(200, 7, {("act", Klass.KEYED): seen})}
    assert drawn == {("A03", "before"), ("C01", "before"), ("C01", "commit-kept"), ("C01", "commit-dropped")}


def test_a_second_message_is_chance_even_where_two_runs_had_it() -> None:
    again = Seen(boundary="L01", position="before", nth=2)
    both = {KEY: (ALWAYS, again)}
    assert steady(both, both) == {KEY: (ALWAYS,)}
    assert [(one.row, one.position) for one in unsteady(both, both)] == [("L01", "before")]
