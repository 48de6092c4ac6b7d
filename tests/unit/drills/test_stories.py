"""What a report tells in full, who the workers in it are, and why a place is not in it."""

import json
from dataclasses import replace

import pytest

from chaos_app.drills.evidence import Control, Evidence
from chaos_app.drills.left_out import LeftOut
from chaos_app.drills.names import Fault, Klass, Verdict
from chaos_app.drills.report import report_html, report_json
from chaos_app.drills.results import Results, results_make
from chaos_app.drills.rows import ROWS
from chaos_app.drills.script import good
from chaos_app.drills.stories import stories
from chaos_app.drills.undrilled import undrilled
from chaos_app.drills.workers import workers_of

CORE, COMMAND = "core", "manage.py drill run --suite core"


def at(row: str, klass: Klass = Klass.KEYED) -> Evidence:
    made = good(klass).evidence()
    return replace(made, cell=replace(made.cell, id=f"{row}.{klass}", row=row))


def made(*evidence: Evidence) -> Results:
    return results_make(evidence, run="run-1", suite=CORE, seed=7, command=COMMAND)


def told(*evidence: Evidence) -> list[str]:
    return [story.result.id for story in stories(made(*evidence).results)]


def test_one_case_that_went_on_and_one_that_is_held_are_told_each():
    assert told(at("E05"), at("E04"), at("E02", Klass.OPAQUE), at("E04", Klass.OPAQUE)) == ["E04.keyed", "E04.opaque"]


def test_a_case_that_has_an_unprotected_run_beside_it_shows_more():
    caught = Control(kind="unprotected", end=Verdict.REPEATED)
    beside = at("E02", Klass.OPAQUE)
    assert told(at("E04", Klass.OPAQUE), replace(beside, controls=(*beside.controls, caught))) == ["E02.opaque"]


def test_a_run_in_which_nobody_was_held_tells_of_nobody_held():
    assert told(at("E04")) == ["E04.keyed"]
    assert told(at("E04", Klass.OPAQUE)) == ["E04.opaque"]


def test_who_is_asked_reads_why_nobody_can_know_and_how_to_look():
    (story,) = stories(made(at("E04", Klass.OPAQUE)).results)
    assert story.person == ("The call act: nobody can tell", "How to look: look at the payments")
    assert "no program can know" in story.says


def test_the_workers_of_a_story_have_letters_names_hosts_and_processes():
    dead, next_one = workers_of(at("E04"))
    assert str(dead) == "w-1, process 101 on h; lease no. 1; killed by SIGKILL"
    assert str(next_one) == "w-2, process 102 on h; lease no. 2"
    assert (dead.label, next_one.label) == ("A", "B")


def test_the_picture_names_the_workers_where_they_die_take_over_and_below():
    page = report_html(made(at("E04"), at("E04", Klass.OPAQUE)))
    assert page.count("<strong>SIGKILL of worker A: ") == page.count("</b> Worker B: w-2 took the task</span>") == 2
    assert page.count("s, the fault: SIGKILL of worker A: ") == page.count(": Worker B: w-2 took the task</li>") == 2
    assert page.count("<b>Worker B</b> w-2, process 102 on h; lease no. 2") == 2
    assert "One case in full: it is held for a person" in page


def test_the_json_has_the_workers_of_each_case_and_names_the_stories():
    said = json.loads(report_json(made(at("E04"), at("E04", Klass.OPAQUE))))
    assert [one["case"] for one in said["stories"]] == ["E04.keyed", "E04.opaque"]
    assert [one["label"] for one in said["cases"][0]["workers"]] == ["A", "B"]


def test_every_place_that_the_core_leaves_out_says_why():
    core = {row.id for row in ROWS if row.core}
    found = undrilled(core, [], suite=CORE, command=COMMAND)
    assert {one.row for one in found} == {row.id for row in ROWS} - core
    assert all(one.why.endswith(".") and one.suite == "full" for one in found)


def test_a_row_of_the_core_needs_no_such_reason():
    assert [row.id for row in ROWS if row.core and row.beside] == []


@pytest.mark.parametrize(
    ("suite", "command", "says"),
    [
        ("core", "manage.py drill run --cell E04.applied.keyed.kill", "narrowed down"),
        ("soak", "manage.py drill run --suite soak", "drawn by chance"),
        ("full", "manage.py drill run --target own.drill:target", "The agent that was drilled"),
        ("core", "manage.py drill run --target own.drill:target --cell X", "narrowed down"),
    ],
)
def test_a_place_that_another_choice_left_out_says_which(suite: str, command: str, says: str):
    found = {one.row: one.why for one in undrilled(set(), [], suite=suite, command=command)}
    assert says in found["E05"]


def test_a_soak_never_draws_what_the_outside_must_do_nor_a_situation():
    found = {one.row: one.why for one in undrilled(set(), [], suite="soak", command="manage.py drill run --suite soak")}
    assert {"the outside must hold, or spoil" in found[row] for row in ("E03", "E04", "E06", "E09")} == {True}
    assert {"this is a situation" in found[row] for row in ("L05", "W02", "R02")} == {True}


def test_a_place_whose_cases_were_stopped_says_so():
    stopped = LeftOut(
        row="E04", position="applied", klass="keyed", fault=str(Fault.KILL), reason="The run was stopped."
    )
    found = {one.row: one.why for one in undrilled(set(), [stopped], suite=CORE, command=COMMAND)}
    assert found["E04"] == "The run was stopped."


def test_html_and_json_list_the_same_places_with_their_reasons():
    results = made(at("E04"))
    said, page = json.loads(report_json(results))["places_not_drilled"], report_html(results)
    assert {one["row"] for one in said} == {row.id for row in ROWS} - {"E04"}
    for one in said:
        assert one["why"].replace("'", "&#x27;") in page


def test_a_square_that_the_table_does_not_have_says_why():
    page = report_html(made(at("E08")))
    assert page.count(">does not apply<") == 1
    assert "nothing is ever read back" in page
