"""Every event has a plain sentence, whatever is missing in it; foreign text is never taken for ours."""

from dataclasses import fields
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from tasks_app.record.events import KINDS
from tasks_app.record.payload import BLOB
from tasks_app.timeline.parts import QUOTE_SHOWN, line
from tasks_app.timeline.story import Story
from tasks_app.timeline.words import WORDS, words

START = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


def event(seq: int, kind: str, seconds: float = 0.0, *, actor: str = "worker:w-1", epoch: int = 1, **data: Any) -> Any:
    at = START + timedelta(seconds=seconds)
    return SimpleNamespace(seq=seq, kind=kind, data=data, actor=actor, epoch=epoch, at=at)


def test_no_kind_lacks_words_and_no_words_lack_a_kind():
    assert set(WORDS) == set(KINDS)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_sentence_is_told_whatever_the_event_holds(kind: str):
    names = [field.name for field in fields(KINDS[kind])]
    reference = {BLOB: {"sha256": "a" * 64, "size": 9000, "media_type": "text/plain", "head": "beginning"}}
    for value in (None, "text", 3, ["a", "b"], {"reason": "x"}, reference, ""):
        said = words(kind, dict.fromkeys(names, value), "person:rhea")
        assert str(said).strip()
        assert len(str(said)) < 2000
    assert str(words(kind, {}, "worker:w-1")).strip()
    assert str(words(kind, reference, "worker:w-1")).strip()


def test_a_kind_of_a_newer_version_is_shown_under_its_own_name():
    assert str(words("moon.risen_again", {}, "system")) == "moon: risen again"


def test_what_others_said_is_quoted_and_cut():
    said = words("task.paused", {"reason": "x" * 5000}, "person:rhea")
    assert [part.style for part in said.parts] == ["name", "", "", "quote"]
    assert len(said.parts[-1].text) <= QUOTE_SHOWN + 2
    assert str(words("task.paused", {"reason": "two\n lines"}, "person:rhea")) == "rhea paused the task: “two lines”"


def test_an_agent_outside_that_has_no_more_to_ask_is_not_said_to_have_done_its_call():
    said = words("signal.received", {"name": "gate.finished", "payload": {"outcome": "done"}}, "agent-token:payer")
    assert str(said) == "The program payer asks for nothing else in this task: it ends once its calls are settled"
    gave_up = {"name": "gate.finished", "payload": {"outcome": "failed", "summary": "no money"}}
    assert "gives up" in str(words("signal.received", gave_up, "agent-token:payer"))
    assert "no money" in str(words("signal.received", gave_up, "agent-token:payer"))
    assert "sent the signal go" in str(words("signal.received", {"name": "go", "payload": {}}, "person:rhea"))


def test_a_takeover_is_one_sentence_with_both_workers_leases_and_the_time_between():
    story = Story()
    story.tell(event(40, "slice.lost", worker="w-1", lost_epoch=7, seen="process gone", place="change", losses=1))
    (row,) = story.tell(event(41, "slice.claimed", 0.4, actor="worker:w-2", epoch=8, worker="w-2"))
    assert str(row.line) == "Worker changed: w-1 lost its lease (no. 7), w-2 continued at 41 (no. 8) after 0.4 s"
    assert row.css == "divider"


def test_a_claim_without_a_loss_before_is_no_takeover():
    story = Story()
    (row,) = story.tell(event(2, "slice.claimed", worker="w-1"))
    assert (row.css, str(row.line)) == ("", "w-1 took the task")


def test_a_new_step_gets_a_heading_once_and_a_long_wait_a_row():
    story = Story()
    first = story.tell(event(3, "context.selected", step=1, model="m"))
    again = story.tell(event(4, "step.decided", 1, step=1, does="call", names=["a"]))
    later = story.tell(event(5, "step.decided", 4000, step=2, does="complete"))
    assert [row.css for row in first] == ["step", ""]
    assert [row.css for row in again] == [""]
    assert [row.css for row in later] == ["idle", "step", ""]
    assert str(later[0].line) == "1 h 6 min without anything to do"


def test_nothing_said_leaves_no_empty_quotation():
    assert str(line("a", "", "b")) == "ab"
    assert str(words("task.resumed", {"after": "paused", "reason": ""}, "person:rhea")).endswith("after its pause")
