"""Whatever a sandbox says for an answer, its call has an outcome in the record, and its task goes on by the rules."""

import json
import math

import pytest

from tasks_app.models import Call, Event, Task
from tasks_app.runtime.acting import LONGEST_PAUSE, pause_fit, reference_fit
from tasks_app.services.create import task_create
from tasks_app.testing import task_run, worker_here
from tests.people import People

pytestmark = pytest.mark.django_db(transaction=True)


def outcome_of(people: People, word: str) -> tuple[Task, dict]:
    """Let a tool say this on its channel; return its task and the outcome that is recorded."""
    task = task_create(
        workspace=people.workspace,
        owner=people.rhea,
        actor="person:rhea",
        agent="box.run",
        intent={"tool": "box.keyed", "arguments": {"what": "claim", "file": {"said": word}}},
    )
    task_run(task.pk, worker_here(), most=1)
    made = Event.objects.filter(stream=task.pk, kind="call.outcome").order_by("seq")
    return task, made.values_list("data", flat=True)[0]


def value(kind: str, **fields) -> str:
    return json.dumps({"value": {"kind": kind, "fields": fields}})


def raised(**fields) -> str:
    return json.dumps({"raised": {"text": "it", **fields}})


@pytest.mark.parametrize(
    "word",
    [
        value("Answer", result=math.nan, reference="r\x00\ud800"),
        value("Answer", result={"\x00": 10**400, "$blob": {"sha256": "x"}}, reference="r" * 5000),
        value("Answer", result="x", reference={"a": [1]}),
        '{"value": {"kind": "Answer", "fields": {"result": ' + "[" * 900 + "]" * 900 + "}}}",
        '{"value": {"kind": "Answer", "fields": {"result": ' + '{"a":' * 4000 + "1" + "}" * 4000 + "}}}",
        '{"value": {"kind": "", "fields": {"value": "\\ud800\\u0000"}}}',
    ],
    ids=["nan", "large", "reference", "deep", "deeper", "surrogate"],
)
def test_odd_values_are_answers_or_garbage_and_recorded(people: People, word: str):
    _, only = outcome_of(people, word)
    assert only["outcome"] == "ok" or only["error"]["code"] in {"sandbox-garbage", "exception"}


@pytest.mark.parametrize("handle", ["h\x00", "h" * 301, "\ud800"])
def test_work_under_a_handle_that_cannot_be_kept_is_unknown(people: People, handle: str):
    _, only = outcome_of(people, value("Started", handle=handle))
    assert (only["outcome"], only["error"]["code"]) == ("unknown", "handle")


@pytest.mark.parametrize("after", [math.nan, math.inf, -math.inf, 1e300, -5])
def test_a_pause_that_is_no_time_stops_no_task(people: People, after: float):
    task, only = outcome_of(people, value("Started", handle="h", poll_after=after))
    assert only["outcome"] == "started"
    assert Call.objects.get(task=task).next_look_at
    task, only = outcome_of(people, raised(type="Unknown", reason="later", retry_after=after))
    assert only["outcome"] == "unknown"
    assert Call.objects.get(task=task).next_look_at


def test_what_is_raised_with_odd_words_is_recorded(people: People):
    odd = {"reason": "no\x00\ud800", "code": "c\x00" * 90, "sent": True, "moved": False}
    assert outcome_of(people, raised(type="Refused", **odd))[1]["outcome"] == "refused"
    assert outcome_of(people, raised(type="x\x00" * 3000))[1]["outcome"] == "unknown"


def test_pauses_and_references_are_cut_to_what_is_kept():
    assert (pause_fit(None), pause_fit(2.5), pause_fit(math.nan, otherwise=1.0)) == (0.0, 2.5, 1.0)
    assert pause_fit(1e300) == LONGEST_PAUSE
    assert reference_fit("a\x00b") == "ab"
