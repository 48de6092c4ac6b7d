"""A copy is a task of its own: what it shares with the task it was copied from is seen, and no other case shows it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from chaos_app.drills.cells import Seen, cells
from chaos_app.drills.copies import COPIED, COPY, FORKS
from chaos_app.drills.evidence import Evidence, TaskRecord
from chaos_app.drills.forks import forks
from chaos_app.drills.names import Klass
from chaos_app.drills.obligations import obligations
from chaos_app.drills.options import Options, needed
from chaos_app.drills.results import results_make
from chaos_app.drills.script import good
from chaos_app.drills.tally import tell

CALLS = (("first", 1), ("act", 1), ("act", 2))
Data = dict[str, Any]
ONE = good().evidence()


def with_copy(change: Callable[[Data], Data]) -> Evidence:
    original = ONE.tasks[0]
    events = tuple(replace(event, data=change(dict(event.data))) for event in original.events)
    copy: TaskRecord = replace(original, task="01a2287c-0000-7000-8000-00000000c0c0", role=COPY, events=events)
    return replace(ONE, tasks=(original, copy))


def own(data: Data) -> Data:
    """Give what the copy says keys of its own."""
    return {name: f"{value}-of-copy" if name in {"key", "approval"} else value for name, value in data.items()}


def said(evidence: Evidence) -> list[str]:
    return [broken.sentence for broken in forks(tell(evidence))]


def test_a_copy_under_keys_of_its_own_shares_nothing():
    assert said(with_copy(own)) == []
    assert said(ONE) == []


def test_a_copy_that_sends_under_a_key_of_its_source_is_seen():
    (sentence,) = said(with_copy(lambda data: data))
    assert sentence.startswith("The copy sent under the key")


def test_a_copy_that_uses_an_approval_of_its_source_is_seen():
    consumed = replace(ONE.tasks[0].events[-1], kind="approval.consumed", data={"approval": "a-1", "name": "act"})
    made = with_copy(own)
    tasks = [replace(task, events=(*task.events, consumed)) for task in made.tasks]
    assert said(replace(made, tasks=tuple(tasks))) == ["The copy used an approval that was given to the task."]


def test_a_copy_that_begins_again_what_it_took_over_is_seen():
    def taken(data: Data) -> Data:
        return own(data) | ({"copied_from": {"calls": {"act": {}}}} if "intent" in data else {})

    made = with_copy(taken)
    created = next(event for event in made.tasks[1].events if event.kind == "task.created")
    assert created.data.get("copied_from"), "the script's creation has an intent"
    assert said(made) == ["The copy began the call 'act' again, which it had taken over as settled."]


def determinism(evidence: Evidence) -> str:
    results = results_make([evidence], run="run-1", suite="core", seed=7).results
    return next(one.word for one in obligations(results) if one.name == "Fork determinism")


@pytest.mark.parametrize(
    ("workload", "hit", "word"), [("act", 1, "not tried"), (COPIED, 1, "not tried"), (COPIED, 2, "passed")]
)
def test_only_a_case_in_which_a_copy_died_shows_fork_determinism(workload: str, hit: int, word: str):
    assert determinism(replace(ONE, cell=replace(ONE.cell, workload=workload, hit=hit))) == word


def test_the_full_suite_kills_the_copy_and_not_once_more_what_it_was_copied_from():
    passed = [Seen(boundary="E05", position="before", call=call, nth=nth) for call, nth in CALLS]
    full = [cell for cell in cells("full", {(COPIED, Klass.KEYED): passed}) if cell.workload == COPIED]
    assert {cell.hit for cell in full} == {2}
    assert {("E05", "before", "act"), ("E05", "commit-kept", "act")} <= {(c.row, c.position, c.call) for c in full}


def test_the_core_kills_copies_and_looks_for_what_they_pass():
    found = [cell for cell in cells("core") if cell.is_of_copy]
    assert {(cell.row, cell.position) for cell in found} == set(FORKS)
    assert {cell.call for cell in found} == {"act"}
    assert (COPIED, found[0].klass) in (needed(Options()) or set())
