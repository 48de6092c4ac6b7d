"""Rule 14: no attempt commits after a stop is set; the answer lists every earlier one without outcome."""

import threading

import pytest
from django.contrib.auth.models import User
from django.db import connections, transaction

from core.errors import Forbidden, NotFound
from tasks_app.models import Event, StopSwitch, Task
from tasks_app.record.append import Admission, CallChange, Stale, Token, append
from tasks_app.record.events import After, CallAttempted
from tasks_app.selectors.stops import stops_in
from tasks_app.services.intake import InvalidInput
from tasks_app.services.stops import Stop, stop_lift, stop_set
from tasks_app.status import CallState
from tests.locks import lock_is_awaited
from tests.people import People
from tests.processes import wait_for
from tests.records import WORKER, call_in, leased, new_task, task_set


def stop(people: People, scope: str, name: str = "", *, user: User | None = None) -> Stop:
    return stop_set(
        workspace=people.workspace,
        scope=scope,
        name=name,
        reason="runaway",
        user=user or people.rhea,
        actor="person:rhea",
    )


def attempt(task: Task, name: str) -> None:
    assert task.lease_nonce is not None
    event = CallAttempted(name=name, attempt=1, key="k", send_by=After(2), deadline=After(12))
    append(
        stream=task.id,
        events=[event],
        actor=WORKER,
        token=Token(epoch=1, nonce=task.lease_nonce),
        calls=[CallChange(name=name, set={"state": "attempted"})],
        admission=Admission(attempts={"ledger.pay": 1}),
    )


@pytest.mark.parametrize(("scope", "name"), [("workspace", ""), ("agent", "test.free"), ("tool", "ledger.pay")])
def test_a_stop_refuses_attempts_in_its_scope_until_it_is_lifted(people: People, scope: str, name: str) -> None:
    task = new_task(people.workspace, people.rhea)
    call_in(task, "pay", CallState.INTENDED)
    task = leased(task)
    standing = stop(people, scope, name)
    with pytest.raises(Stale, match="stopped"):
        attempt(task, "pay")
    stop_lift(
        workspace=people.workspace, stop=standing.switch.pk, reason="fixed", user=people.rhea, actor="person:rhea"
    )
    attempt(task, "pay")
    changes = Event.objects.filter(stream=people.workspace.pk, kind="switch.changed").order_by("seq")
    assert [change.data.get("after_change") for change in changes] == [{"reason": "runaway"}, None]


def test_the_answer_lists_earlier_attempts_without_outcome_in_the_scope(people: People) -> None:
    task, other = new_task(people.workspace, people.rhea), new_task(people.workspace, people.rhea)
    for state in (CallState.ATTEMPTED, CallState.OK, CallState.INTENDED):
        call_in(task, state.value, state)
    call_in(other, "elsewhere", CallState.ATTEMPTED, tool="mail.send")
    listed = stop(people, "tool", "ledger.pay").attempts
    assert [(one["task"], one["call"]) for one in listed] == [(str(task.id), "attempted")]
    assert listed[0]["send_by"]
    assert len(stop(people, "workspace").attempts) == 2


def test_setting_a_stop_again_is_the_same_answer(people: People) -> None:
    assert stop(people, "workspace").switch.pk == stop(people, "workspace").switch.pk
    assert Event.objects.filter(kind="switch.changed").count() == 1


def test_a_stop_over_everything_is_for_whoever_runs_the_deployment(people: People) -> None:
    with pytest.raises(Forbidden, match="beyond this workspace"):
        stop(people, "all")
    people.rhea.is_superuser = True
    stop(people, "all")
    assert [switch.scope for switch in stops_in(workspaces=[people.elsewhere.pk])] == ["all"]


def test_a_stop_of_another_workspace_is_unknown(people: People) -> None:
    pk = stop(people, "workspace").switch.pk
    assert stops_in(workspaces=[people.elsewhere.pk]) == []
    with pytest.raises(NotFound):
        stop_lift(workspace=people.elsewhere, stop=pk, reason="?", user=people.tobin, actor="person:tobin")
    assert StopSwitch.objects.count() == 1


@pytest.mark.parametrize(("scope", "name"), [("agent", ""), ("workspace", "x"), ("galaxy", "")])
def test_a_scope_that_does_not_fit_is_refused(people: People, scope: str, name: str) -> None:
    with pytest.raises(InvalidInput):
        stop(people, scope, name)


def test_lifting_wakes_the_tasks_that_it_held(people: People) -> None:
    task = new_task(people.workspace, people.rhea)
    task_set(task, status="waiting", wait={"kind": "stop"}, wake_at=None)
    pk = stop(people, "workspace").switch.pk
    stop_lift(workspace=people.workspace, stop=pk, reason="fixed", user=people.rhea, actor="person:rhea")
    assert Task.objects.get(pk=task.id).wake_at is not None


@pytest.mark.django_db(transaction=True)
def test_a_stop_waits_for_the_attempt_that_is_being_committed_and_lists_it(people: People) -> None:
    task = new_task(people.workspace, people.rhea)
    call_in(task, "pay", CallState.INTENDED)
    task = leased(task)
    answers: list[Stop] = []

    def set_it() -> None:
        answers.append(stop(people, "workspace"))
        connections.close_all()

    setter = threading.Thread(target=set_it)
    with transaction.atomic():
        attempt(task, "pay")
        setter.start()
        wait_for(lock_is_awaited, what="the stop to wait")
        assert not answers
    setter.join(timeout=10)
    assert [one["call"] for one in answers[0].attempts] == ["pay"]
