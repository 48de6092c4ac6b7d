"""How a sandbox ends is an outcome by the rules of the record, whatever it is."""

import time

import pytest

from tasks_app.contracts import Absent, Answer, Found
from tasks_app.runtime.acting import find_act, verify_act
from tests.integration.sandbox.conftest import act, said
from tests.sandbox_tools import Try, box_keyed

pytestmark = pytest.mark.usefixtures("cold_and_warm")


def test_an_answer_comes_back_with_what_it_used():
    outcome = act("answer", word="hello")
    assert (outcome.outcome, outcome.result) == ("ok", {"word": "hello"})
    used = outcome.used or {}
    assert (used["level"], used["ended"]) == ("namespaces", "answered")
    assert used["wall_ms"] > 0
    assert used["memory_kib"] > 1000


@pytest.mark.parametrize(
    ("what", "code"),
    [
        ("die", "sandbox-killed"),
        ("leave", "sandbox-killed"),
        ("memory", "sandbox-memory"),
        ("garbage", "sandbox-garbage"),
        ("large", "sandbox-output"),
        ("flood", "sandbox-output"),
    ],
)
def test_a_bad_end_leaves_the_outcome_unknown(what, code):
    outcome = act(what, word='{"value": 1}')
    assert (outcome.outcome, (outcome.error or {})["code"]) == ("unknown", code)


def test_out_of_cpu_time_is_unknown():
    assert (act("spin").error or {})["code"] == "sandbox-cpu"


@pytest.mark.parametrize("what", ["hang", "hang_deaf"])
def test_out_of_time_is_unknown_and_at_its_deadline(what):
    began = time.monotonic()
    outcome = act(what, seconds=3.0)
    assert (outcome.outcome, (outcome.error or {})["code"]) == ("unknown", "deadline")
    assert time.monotonic() - began < 9.0  # it would hang for a minute


def test_what_it_printed_last_is_told():
    assert "last words" in (act("die").error or {})["reason"]


@pytest.mark.parametrize(
    "noise", ["", "[1]", '{"value": {"kind": "Answer"}}', '{"raised": {}}', "\xff\x00", "[" * 5000, '{"large": "x"}']
)
def test_garbage_of_any_kind_is_unknown(noise):
    assert (act("garbage", word=noise).error or {})["code"] == "sandbox-garbage"


def test_refusals_and_unknowns_come_out_as_they_were_raised():
    refused = act("refuse")
    assert (refused.outcome, refused.error) == ("refused", {"code": "no", "reason": "it says no", "moved": True})
    unknown = act("cannot_tell")
    assert (unknown.outcome, unknown.again_after) == ("unknown", 0.1)
    assert (act("fail", word="why").error or {})["reason"] == "ValueError: why"


def test_much_that_is_printed_disturbs_nothing():
    assert said("chatter") == "said much"


def test_odd_values_come_out_as_plain_data():
    seen = said("odd")
    assert (seen["bytes"], seen["set"], seen["tuple"], seen["path"]) == ("\xff\x00", [1], [1, 2], "/x")


def test_look_ups_and_read_backs_run_inside_as_well():
    assert find_act(box_keyed, "there") == Found(reference="R there", arguments={"what": "answer"})
    assert find_act(box_keyed, "gone") == Absent()
    seen = verify_act(box_keyed, Try(what="answer", word="x"), Answer(result={"word": "x"}))
    assert (seen.matches, seen.seen, seen.reference) == (True, [], "seen")


def test_programs_of_the_system_run_inside():
    assert said("shell", word="echo hello from $PPID").startswith("hello")
