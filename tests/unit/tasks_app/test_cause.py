"""A worker change is told with its cause: where the lost one stood, what that left open, what the next one did."""

import pytest

from tasks_app.timeline.cause import CAUSE_KINDS, takeover_cause
from tests.unit.record.test_reducer import Story


def cause(before: Story, after: Story | None = None) -> str:
    """The sentence; ``after`` goes on where ``before`` ends."""
    return str(takeover_cause(before.facts, after.facts if after else []))


def decided() -> Story:
    return Story().claim().say("step.decided", epoch=1, step=1, does="call", names=["pay"])


def then() -> Story:
    story = Story()
    story.facts.clear()
    return story.claim(2)


def test_a_call_that_was_attempted_and_not_answered_is_told_with_the_rule_of_its_class():
    said = cause(decided().call(effect_class="keyed").attempt())
    assert "after attempt 1 of pay was recorded and before any answer was" in said
    assert "the same key is sent again" in said


def test_what_the_next_worker_did_takes_the_place_of_the_rule():
    after = then().say("call.resume_decided", name="pay", rule="E03", move="wait")
    after.say("call.observed", name="pay", look_up=1, answer="found", move="adopt").say("call.verified", name="pay")
    said = cause(decided().call(effect_class="readable").attempt(), after)
    assert said.endswith(
        "The next worker waited until no late arrival was possible, looked, found it and took it over as the result "
        "and read it back as it was intended."
    )


def test_an_effect_that_nobody_can_look_up_is_said_to_be_held_for_a_person():
    said = cause(decided().call().attempt(), then().say("call.in_doubt", name="pay", rule="E02", reason="r", check="c"))
    assert said.endswith("The next worker held it for a person.")


def test_an_approval_that_was_used_is_said_to_stay_used():
    story = decided().call().attempt()
    story.facts[-1].data["under_approval"] = "a1"
    assert "its approval is used, and is not given back" in cause(story)


def test_a_call_whose_late_answer_was_there_is_not_unknown_for_what_another_attempt_said():
    story = decided().call(effect_class="keyed").attempt().claim(2).attempt(number=2, epoch=2)
    story.say("call.late_receipt", name="pay", attempt=1, outcome="ok", closes_doubt=True)
    before = cause(story)
    assert "answer" in before
    assert cause(story.say("call.outcome", name="pay", attempt=2, outcome="unknown", sent=True)) == before


def test_what_happens_after_a_second_loss_belongs_to_the_second_takeover():
    after = then().say("slice.lost", lost_epoch=2, worker="w").claim(3).attempt(number=2, epoch=3)
    assert "sent it" not in cause(decided().call(effect_class="keyed").attempt(), after)


@pytest.mark.parametrize(
    ("story", "words"),
    [
        (Story().claim(), "before anything was decided"),
        (decided(), "the decision is used"),
        (Story().claim().say("context.selected", step=3, ask=1), "asked for step 3; the question is asked again"),
        (
            decided().call().say("call.verified", name="pay").say("checkpoint.advanced", step=1),
            "after step 1 was settled",
        ),
        (decided().say("task.claimed_complete", summary="", claims=[]), "the claim to be done was being checked"),
        (decided().call(), "planned and before anything was sent"),
        (decided().call().say("approval.requested", name="pay", approval="a"), "the question stands in the record"),
        (decided().call().attempt().say("call.outcome", name="pay", outcome="ok"), "before the effect was read back"),
        (decided().call().attempt().say("call.outcome", name="pay", outcome="unknown"), "outcome of pay was unknown"),
        (
            decided()
            .call()
            .attempt()
            .say("call.outcome", name="pay", outcome="started", handle="h")
            .say("call.observed", name="pay", look_up=1, answer="cannot tell", move="wait"),
            "while pay ran outside",
        ),
    ],
)
def test_each_place_is_told_in_its_own_words(story, words):
    assert words in cause(story)


def test_only_known_kinds_are_looked_at():
    from tasks_app.record.events import KINDS

    assert set(CAUSE_KINDS) <= KINDS.keys()
