"""A run's result: one sentence, one exit code, the obligations, the report; a blind judge makes all of it void."""

import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from chaos_app.drills.caught import Caught, caught_made
from chaos_app.drills.evidence import Control, Evidence
from chaos_app.drills.judge import Judgement, judge
from chaos_app.drills.left_out import LeftOut
from chaos_app.drills.matrix import matrix
from chaos_app.drills.names import Klass, Verdict
from chaos_app.drills.obligations import obligations
from chaos_app.drills.planted import BY_NAME
from chaos_app.drills.report import report_html, report_json, report_junit
from chaos_app.drills.results import Results, results_make
from chaos_app.drills.script import Script, good


def as_cell(made: Evidence, cell: str, **more: object) -> Evidence:
    return replace(made, cell=replace(made.cell, id=cell), **more)  # type: ignore[arg-type]


def repeated_effect() -> Evidence:
    script = Script().claim().plan().attempt().arrive().die().claim().attempt(number=2, same=False).arrive(number=2)
    return as_cell(script.answer(number=2).complete().evidence(), "twice")


ONCE = as_cell(good().evidence(), "once")
HELD = as_cell(good(Klass.OPAQUE).evidence(), "held")
UNFIRED = as_cell(good().evidence(faults=()), "unfired")


def made(*evidence: Evidence, **more: object) -> Results:
    return results_make(evidence, run="run-1", suite="core", seed=7, **more)  # type: ignore[arg-type]


def test_a_good_run_says_so_in_one_sentence_and_exits_0():
    results = made(ONCE, HELD)
    assert results.exit_code == 0
    assert results.sentence == (
        "2 of 2 cases that fired end as allowed; 1 held for a person, by design; 0 never fired; "
        "planted bugs found 8 of 8."
    )


def test_a_violation_exits_1():
    assert made(ONCE, repeated_effect()).exit_code == 1


def test_a_fault_that_never_happened_exits_2_and_is_never_counted_as_good():
    results = made(ONCE, UNFIRED)
    assert results.exit_code == 2
    assert results.sentence.startswith("1 of 1 cases that fired end as allowed")
    assert "1 never fired" in results.sentence


CUT = LeftOut(row="E05", position="before", klass="keyed", fault="SIGKILL", reason="It was stopped.", cut=True)
NEVER = replace(CUT, cut=False)
SEEN, UNSEEN = (Caught(row="E04", klass="keyed", end=end) for end in ("REPEATED", "ONCE"))


def all_say(results: Results, code: int) -> str:
    """Check that every form of the report says the same as the exit code; return the headline."""
    data, junit = json.loads(report_json(results)), ElementTree.fromstring(report_junit(results))
    bad = [case.get("name") for case in junit.iter("testcase") if len(case)]
    assert (results.exit_code, data["exit_code"], bool(bad)) == (code, code, code != 0)
    assert f"<h1>{data['summary']}</h1>" in report_html(results)
    assert ("does not pass" in report_html(results)) == (code == 2)
    assert ("is safe" in data["summary"]) == (code == 0)
    return str(data["summary"])


def test_a_run_that_was_stopped_before_all_was_played_says_so_everywhere():
    results = made(ONCE, left_out=[CUT, CUT, NEVER])
    assert all_say(results, 2) == "Not complete: 2 cases not played."
    assert "2 not played" in results.sentence
    assert all_say(made(ONCE, left_out=[NEVER]), 0)


def test_a_run_whose_unprotected_executor_came_through_says_so_everywhere():
    results = made(ONCE, caught=[SEEN, UNSEEN])
    assert "was not caught everywhere" in all_say(results, 2)
    assert "unprotected runs caught 1 of 2" in results.sentence
    assert "was not caught" in all_say(made(ONCE, caught=[]), 2)
    assert all_say(made(ONCE, caught=[SEEN]), 0)
    assert json.loads(report_json(results))["unprotected"][1] == {"row": "E04", "klass": "keyed", "end": "ONCE"}


def test_a_violation_counts_before_whatever_else_is_missing():
    assert all_say(made(ONCE, repeated_effect(), left_out=[CUT], caught=[UNSEEN]), 1).startswith("Something is wrong")


def test_a_run_that_broke_off_is_no_pass():
    assert (made(ONCE, broke_off=True).exit_code, made(ONCE, unread=1).exit_code) == (2, 2)


def test_a_control_that_could_not_be_killed_was_not_caught():
    control = Control(kind="unprotected", end=Verdict.NOT_FIRED)
    assert [one.is_caught for one in caught_made({("E04", Klass.KEYED): control})] == [False]


def test_a_run_of_nothing_proves_nothing():
    assert made().exit_code == 2


def test_the_repeat_of_a_case_that_said_nothing_counts_in_its_place():
    again = as_cell(good().evidence(repeat=1), "unfired")
    results = made(UNFIRED, again)
    assert (results.exit_code, len(results.results), results.results[0].repeated) == (0, 1, True)


def test_a_violation_is_not_washed_away_by_its_repeat():
    again = as_cell(good().evidence(repeat=1), "twice")
    assert made(repeated_effect(), again).exit_code == 1


@pytest.mark.parametrize("bug", BY_NAME)
def test_a_judge_that_is_blind_for_one_bug_makes_the_whole_run_inconclusive(bug):
    def blind(evidence: Evidence) -> Judgement:
        if evidence.planted_bug == bug:
            return judge(ONCE)
        return judge(evidence)

    results = made(ONCE, HELD, judged_by=blind)
    assert [one.bug for one in results.missed] == [bug]
    assert results.exit_code == 2
    assert "Nothing can be concluded" in results.summary
    assert "planted bugs found 7 of 8" in results.sentence


def test_a_run_of_the_product_with_a_bug_that_looks_good_is_a_missed_bug():
    results = made(ONCE, bugs=[as_cell(good().evidence(planted_bug="assume done"), "bug")])
    assert [one.bug for one in results.missed] == ["assume done"]


def test_the_obligations_are_passed_failed_or_not_tried_never_guessed():
    found = {one.name: one.word for one in obligations(made(ONCE, repeated_effect()).results)}
    assert found["Effects exactly once"] == "failed"
    assert found["Prefix continuation"] == "passed"
    assert found["Recovery determinism"] == "passed"
    assert found["Consume once"] == "not tried"


def test_a_square_shows_its_worst_case_and_an_undrilled_one_is_empty():
    lines = {line.row: line for line in matrix(made(ONCE, repeated_effect()).results)}
    keyed, readable = lines["E04"].squares[:2]
    assert (keyed.verdict, keyed.as_allowed, len(keyed.results), keyed.is_wrong) == (Verdict.REPEATED, 1, 2, True)
    assert readable.verdict is None


def test_the_json_carries_times_beside_their_bounds():
    case = json.loads(report_json(made(ONCE)))["cases"][0]
    assert case["takeover_seconds"] == pytest.approx(2.0)
    assert case["takeover_bound_seconds"] == 10.0
    assert case["settled_seconds"] > 0


def test_junit_names_failures_and_errors():
    root = ElementTree.fromstring(report_junit(made(ONCE, repeated_effect(), UNFIRED)))
    assert [case.get("name") for case in root.iter("testcase") if case.find("failure") is not None] == ["twice"]
    assert [case.get("name") for case in root.iter("testcase") if case.find("error") is not None] == ["unfired"]


def test_the_report_is_whole_in_itself_and_says_what_happened():
    page = report_html(made(ONCE, HELD, repeated_effect()))
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "<script" not in page
    assert "one case did not end as allowed" in page
    assert "planted bugs found 8 of 8" in page
    assert 'class="link fork"' in page


def test_what_a_tool_said_cannot_become_markup_in_the_report():
    events = [replace(e, data=e.data | {"worker": "<b>w</b>"}) for e in ONCE.tasks[0].events]
    page = report_html(made(replace(ONCE, tasks=(replace(ONCE.tasks[0], events=tuple(events)),))))
    assert "<b>w</b>" not in page


def test_a_report_speaks_of_a_program_that_protects_nothing_only_where_one_was_run():
    assert "protects nothing" not in report_html(made(ONCE))
    assert "without protection" not in report_html(made(ONCE))
    caught = Control(kind="unprotected", end=Verdict.REPEATED)
    html = report_html(made(replace(ONCE, controls=(*ONCE.controls, caught))))
    assert "and by a program that protects nothing, to compare" in html
    assert "Last comes the same place without protection" in html
