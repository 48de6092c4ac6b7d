"""The card of a call in doubt follows its call, however long the record of it is."""

from core.access import Role
from core.principal import Principal
from tasks_app.live.doubt_feed import DoubtFeed
from tasks_app.models import Call, Task
from tasks_app.record.append import append
from tasks_app.record.events import CallObserved, CallOutcome
from tasks_app.selectors.doubt import ATTEMPTS_SHOWN
from tasks_app.status import CallState
from tests.people import People
from tests.records import call_in, leased, new_task


def doubted(people: People) -> tuple[Task, Call, DoubtFeed]:
    task = leased(new_task(people.workspace, people.rhea))
    call = call_in(task, "pay", CallState.IN_DOUBT, deadline=-3600.0)
    rhea = Principal(user=people.rhea, workspace=people.workspace, roles=frozenset({Role.OPERATOR}))
    return task, call, DoubtFeed(task=task.pk, name="pay", who=lambda: rhea)


def observed(task: Task, number: int) -> None:
    event = CallObserved(name="pay", look_up=number, answer="cannot tell", reason=f"look {number}")
    append(stream=task.pk, events=[event], actor="worker:w-1")


def told(feed: DoubtFeed) -> str:
    return "".join(str(message["html"]) for message in feed.read().messages)


def test_a_look_up_is_told_also_where_more_were_made_than_are_shown(transactional_db: None, people: People):
    task, call, feed = doubted(people)
    for number in range(ATTEMPTS_SHOWN + 1):
        observed(task, number)
    assert f"look {ATTEMPTS_SHOWN}" in told(feed)
    assert told(feed) == ""
    observed(task, ATTEMPTS_SHOWN + 1)
    after = told(feed)
    assert f'id="doubt-found-{call.pk}"' in after
    assert f"look {ATTEMPTS_SHOWN + 1}" in after


def test_what_came_back_of_an_attempt_that_is_shown_already_is_told(transactional_db: None, people: People):
    task, _, feed = doubted(people)
    assert "the worker was lost" in told(feed)
    event = CallOutcome(name="pay", attempt=1, outcome="unknown", error={"reason": "no answer"})
    append(stream=task.pk, events=[event], actor="worker:w-1")
    after = told(feed)
    assert "no answer" in after
    assert "the worker was lost" not in after
