"""An act that a business key keeps from being done twice is done once more where a person allows it, and only once."""

import pytest

from core.errors import NotFound
from tasks_app.decisions import call
from tasks_app.models import Call, Task
from tasks_app.runtime.intending import CannotIntend, Intended, call_intend
from tasks_app.services.repeat import repeat_allow
from tasks_app.services.steer import NotNow
from tasks_app.status import CallState
from tests import scripts  # noqa: F401 - declares c.ticket_once
from tests.people import People
from tests.records import call_in, kinds, new_task, task_set


@pytest.fixture
def first(people: People) -> Task:
    """A task that has opened the ticket, and ended."""
    task = new_task(people.workspace, people.rhea)
    call_in(task, "pay", CallState.OK, tool="c.ticket_once", business_key="c.ticket_once:one")
    Call.objects.filter(task=task).update(state=CallState.VERIFIED)
    return task_set(task, status="completed", ended_at="2026-01-01T00:00:00Z", wake_at=None)


def intend(people: People, name: str = "again") -> Intended:
    task = new_task(people.workspace, people.rhea)
    return call_intend(call("c.ticket_once", name=name, title="one"), task=task, step=1, ordinal=0, names={})


def allow(people: People, task: Task, *, reason: str = "The customer lost it.") -> Call:
    return repeat_allow(workspace=people.workspace, task=task.pk, name="pay", actor="person:silas", reason=reason)


def test_the_same_act_is_refused_until_a_person_allows_it(people: People, first: Task) -> None:
    with pytest.raises(CannotIntend, match="only if a person allows it"):
        intend(people)
    allowed = allow(people, first)
    assert (allowed.state, allowed.holds_business_key, allowed.business_key) == ("verified", False, "c.ticket_once:one")
    assert kinds(first)[-1] == "call.repeat_allowed"
    assert intend(people).event.business_key == "c.ticket_once:one"


def test_allowing_twice_allows_it_once(people: People, first: Task) -> None:
    allow(people, first)
    assert allow(people, first).task.head_seq == Task.objects.get(pk=first.pk).head_seq
    assert kinds(first).count("call.repeat_allowed") == 1
    second = new_task(people.workspace, people.rhea)
    call_in(second, "pay", CallState.OK, tool="c.ticket_once", business_key="c.ticket_once:one")
    with pytest.raises(CannotIntend, match=str(second.pk)):
        intend(people)


@pytest.mark.parametrize("state", [CallState.ATTEMPTED, CallState.IN_DOUBT, CallState.UNKNOWN])
def test_what_may_still_happen_is_settled_first(people: People, state: CallState) -> None:
    task = new_task(people.workspace, people.rhea)
    call_in(task, "pay", state, business_key="c.ticket_once:one")
    with pytest.raises(NotNow, match="must be known first"):
        allow(people, task)


def test_a_call_that_holds_nothing_back_and_one_that_nobody_knows_are_refused(people: People, first: Task) -> None:
    task = new_task(people.workspace, people.rhea)
    call_in(task, "pay", CallState.OK)
    with pytest.raises(NotNow, match="keeps no other call"):
        allow(people, task)
    with pytest.raises(NotFound):
        repeat_allow(workspace=people.elsewhere, task=first.pk, name="pay", actor="person:tobin", reason="mine")
