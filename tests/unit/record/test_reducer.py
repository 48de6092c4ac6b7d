"""The reducer: from events to the state of a task, at any point of its past."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tasks_app.record.events import KINDS
from tasks_app.record.reducer import _TASK, reduce, state_at
from tasks_app.record.reducing_calls import CALLS, Fact
from tasks_app.status import CallState, Status

START = datetime(2026, 1, 1, tzinfo=UTC)


class Story:
    """Builds a record event by event."""

    def __init__(self) -> None:
        self.facts: list[Fact] = []
        created = {name: {} for name in ("intent", "labels", "budget")} | {"done_when": [], "title": "t"}
        self.say("task.created", **created, agent="a", agent_version=1, code_digest="")

    def say(self, kind: str, /, *, epoch: int | None = None, **data: Any) -> "Story":
        assert kind in KINDS
        seq = len(self.facts) + 1
        self.facts.append(Fact(seq=seq, kind=kind, data=data, at=START + timedelta(seconds=seq), epoch=epoch))
        return self

    def claim(self, epoch: int = 1) -> "Story":
        return self.say("slice.claimed", epoch=epoch, worker="w", nonce=f"n{epoch}", host="h", pid=1, place="step 1")

    def call(self, name: str = "pay", effect_class: str = "opaque", **more: Any) -> "Story":
        fixed = {"step": 1, "ordinal": 0, "tool": "t", "contract_version": 1, "digest": "d", "key": f"k-{name}"}
        return self.say("call.intended", name=name, effect_class=effect_class, arguments={}, **(fixed | more))

    def attempt(self, name: str = "pay", number: int = 1, epoch: int = 1) -> "Story":
        until = (START + timedelta(minutes=1)).isoformat()
        return self.say("call.attempted", epoch=epoch, name=name, attempt=number, key=f"k-{name}", deadline=until)

    def release(self, why: str) -> "Story":
        return self.say("slice.released", why=why, worker="w")

    @property
    def task(self) -> dict[str, Any]:
        return state_at(self.facts).task

    def row(self, name: str = "pay") -> dict[str, Any]:
        return state_at(self.facts).calls[name]


def test_each_kind_that_the_reducer_knows_is_in_the_vocabulary() -> None:
    assert _TASK.keys() | CALLS.keys() <= KINDS.keys()


def test_the_state_at_any_point_of_the_past_is_that_of_the_events_up_to_there() -> None:
    story = Story().claim().call().attempt().say("call.outcome", name="pay", attempt=1, outcome="unknown", sent=True)
    states = [state_at(story.facts[:until]) for until in range(len(story.facts) + 1)]
    assert [s.task["status"] for s in states] == ["queued", "queued", "running", "running", "running", "running"]
    assert [s.calls["pay"]["state"] for s in states[3:]] == ["intended", "attempted", "unknown"]


def test_reducing_changes_nothing_that_went_in() -> None:
    story = Story().claim().call().attempt()
    before = state_at(story.facts)
    kept = state_at(story.facts)
    after = reduce(before, Story().say("call.in_doubt", name="pay").facts[-1])
    assert before == kept
    assert after != before


@pytest.mark.parametrize("why", ["handed over", "bound"])
def test_a_task_that_is_handed_over_is_due_work(why: str) -> None:
    assert Story().claim().release(why).task["status"] == Status.QUEUED


def test_a_parked_task_waits_for_what_was_said_before_the_release() -> None:
    story = (
        Story().claim().say("wait.started", kind="look_up", step=1, on=["pay"], until="2026-01-01").release("parked")
    )
    assert story.task["status"] == Status.WAITING
    assert story.task["wait"] == {"kind": "look_up", "on": ["pay"], "until": "2026-01-01"}
    assert story.claim(2).task["wait"] is None


def test_an_own_wait_outlives_a_loss_and_ends_once() -> None:
    story = Story().claim().say("wait.started", kind="signal", step=1, name="go", on="go")
    story.say("signal.received", name="go").say("signal.received", name="other")
    story.say("slice.lost", lost_epoch=1, worker="w", seen="gone", place="step 2", losses=1, counted=True)
    assert story.task["open_wait"]["name"] == "go"
    assert [signal["seq"] for signal in story.task["signals"]] == [4, 5]
    story.claim(2).say("wait.ended", kind="signal", name="go", why="signal", signal_seq=4)
    assert story.task["open_wait"] is None
    assert [signal["name"] for signal in story.task["signals"]] == ["other"]


def test_a_call_in_doubt_parks_the_task_in_doubt_until_a_person_settles_it() -> None:
    story = Story().claim().call().attempt().say("call.in_doubt", name="pay").release("parked")
    assert story.task["status"] == Status.IN_DOUBT
    story.say("call.settled", name="pay", answer="happened", by="person:silas", evidence="seen")
    assert story.task["status"] == Status.QUEUED
    assert story.row()["state"] == CallState.HAPPENED


def test_a_paused_task_stays_paused_through_claim_release_and_loss() -> None:
    story = Story().claim().say("task.paused", reason="lunch").release("parked")
    assert story.task["status"] == Status.PAUSED
    assert story.claim(2).task["status"] == Status.PAUSED
    story.say("slice.lost", lost_epoch=2, worker="w", seen="gone", place="step 1", losses=1, counted=True)
    assert story.task["status"] == Status.PAUSED


def test_a_loss_with_several_calls_in_flight_makes_them_go_one_by_one_until_a_checkpoint() -> None:
    story = Story().claim().call("a").call("b").attempt("a").attempt("b")
    story.say("slice.lost", lost_epoch=1, worker="w", seen="gone", place="a, b", losses=1, counted=True)
    assert story.task["one_by_one"]
    assert not story.say("checkpoint.advanced", step=1).task["one_by_one"]


def test_one_unknown_attempt_keeps_a_refused_call_unknown() -> None:
    story = Story().claim().call(effect_class="keyed").attempt()
    story.say("call.outcome", name="pay", attempt=1, outcome="unknown", sent=True).attempt(number=2)
    story.say("call.outcome", name="pay", attempt=2, outcome="refused", sent=True)
    assert story.row()["state"] == CallState.UNKNOWN
    assert story.row()["look_first"]


@pytest.mark.parametrize("second", ["unknown", "refused", "ok", "started"])
@pytest.mark.parametrize("settles", [True, None], ids=["settled", "to be read back"])
def test_what_a_second_attempt_says_changes_nothing_of_a_call_that_is_answered(
    second: str, settles: bool | None
) -> None:
    story = Story().claim().call(effect_class="keyed").attempt().claim(2).attempt(number=2, epoch=2)
    receipt = {"name": "pay", "attempt": 1, "outcome": "ok", "closes_doubt": True, "reference": "r", "held_epoch": 1}
    story.say("call.late_receipt", settles=settles, **receipt)
    before = story.row()
    story.say("call.outcome", name="pay", attempt=2, outcome=second, sent=True, settles=settles, reference="other")
    assert story.row() == before


def test_an_attempt_that_a_lost_worker_left_may_have_acted() -> None:
    story = Story().claim().call(effect_class="keyed").attempt().claim(2).attempt(number=2, epoch=2)
    assert story.row()["maybe_applied"]
    assert (story.row()["attempts"], story.row()["attempt_epoch"]) == (2, 2)


def test_a_call_that_is_withdrawn_is_not_voided_by_the_same_append() -> None:
    story = Story().claim().call().say("approval.requested", approval="1", name="pay")
    story.say("call.withdrawn", name="pay", reason="tool changed").say("approval.voided", approval="1", name="pay")
    assert story.row()["state"] == CallState.WITHDRAWN
    assert story.row()["settled_seq"] == 5


@pytest.mark.parametrize(
    ("answer", "holds"), [("happened", True), ("unknown", True), ("not_happened", False), ("run_again", False)]
)
def test_a_business_key_is_given_back_by_a_call_that_ended_without_effect(answer: str, holds: bool) -> None:
    story = Story().claim().call(business_key="b").attempt().say("call.in_doubt", name="pay")
    story.say("call.settled", name="pay", answer=answer, by="p", evidence="e")
    assert story.row()["holds_business_key"] is holds
