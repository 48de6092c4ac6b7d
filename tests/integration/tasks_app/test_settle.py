"""A call in doubt: a person says what happened; one answer stands; not before anybody can know."""

import pytest

from core.clock import database_now
from core.errors import NotFound
from tasks_app.models import Call, Event, Task
from tasks_app.services.again import CannotRunAgain
from tasks_app.services.cancel import task_cancel
from tasks_app.services.intake import InvalidInput
from tasks_app.services.settle import NotInDoubt, SettledAlready, TooEarly, call_settle, not_before
from tasks_app.status import CallState
from tasks_app.testing import task_run, worker_here
from tests.people import People
from tests.processes import wait_for
from tests.records import call_in, kinds, new_task, task_set


@pytest.fixture
def task(people: People) -> Task:
    task = new_task(people.workspace, people.rhea)
    call_in(task, "pay", CallState.IN_DOUBT, business_key="ledger.pay:1")
    return task_set(task, status="in_doubt", wake_at=None, losses=2, loss_place="pay")


def settle(people: People, task: Task, answer: str, *, by: str = "person:silas", reference: str = "") -> Call:
    return call_settle(
        workspace=people.workspace,
        task=task.id,
        name="pay",
        actor=by,
        answer=answer,
        evidence="looked at the bank",
        reference=reference,
    )


@pytest.mark.parametrize(
    ("answer", "state", "holds"),
    [("happened", "happened", True), ("not_happened", "not_happened", False), ("unknown", "unknown_settled", True)],
)
def test_each_answer_settles_the_call_and_lets_the_task_go_on(
    people: People, task: Task, answer: str, state: str, holds: bool
) -> None:
    call = settle(people, task, answer, reference="tx-9")
    settled = Event.objects.get(stream=task.id, kind="call.settled")
    assert (call.state, call.holds_business_key, call.reference) == (state, holds, "tx-9")
    assert call.settled_seq == call.answer_seq == settled.seq
    assert (settled.actor, settled.data["by"], settled.data["answer"]) == ("person:silas", "person:silas", answer)
    after = Task.objects.get(pk=task.id)
    assert (after.status, after.losses, after.loss_place) == ("queued", 0, "")
    assert after.wake_at is not None


def test_the_task_waits_until_no_call_is_in_doubt(people: People, task: Task) -> None:
    call_in(task, "other", CallState.IN_DOUBT)
    settle(people, task, "happened")
    after = Task.objects.get(pk=task.id)
    assert (after.status, after.wake_at) == ("in_doubt", None)


@pytest.mark.parametrize("status", ["paused", "cancelling"])
def test_a_paused_or_cancelling_task_stays_so_and_is_looked_at(people: People, task: Task, status: str) -> None:
    task_set(task, status=status)
    settle(people, task, "happened")
    after = Task.objects.get(pk=task.id)
    assert after.status == status
    assert after.wake_at is not None


def test_the_same_answer_by_the_same_person_is_the_same_answer(people: People, task: Task) -> None:
    settle(people, task, "happened")
    head = Task.objects.get(pk=task.id).head_seq
    settle(people, task, "happened")
    assert Task.objects.get(pk=task.id).head_seq == head


@pytest.mark.parametrize(("answer", "by"), [("unknown", "person:silas"), ("happened", "person:rhea")])
def test_another_answer_or_person_is_refused_and_told_what_stands(
    people: People, task: Task, answer: str, by: str
) -> None:
    settle(people, task, "happened")
    with pytest.raises(SettledAlready, match=r"person:silas has already recorded 'happened'"):
        settle(people, task, answer, by=by)
    assert kinds(task).count("call.settled") == 1


def test_not_happened_is_refused_while_a_late_arrival_is_possible(people: People) -> None:
    task = new_task(people.workspace, people.rhea)
    call_in(task, "pay", CallState.IN_DOUBT, deadline=-1, not_before=60)
    with pytest.raises(TooEarly) as caught:
        settle(people, task, "not_happened")
    assert caught.value.fields["not_before"]
    assert Call.objects.get(task=task).state == "in_doubt"
    assert settle(people, task, "unknown").state == "unknown_settled"


def test_only_a_call_in_doubt_is_settled(people: People, task: Task) -> None:
    call_in(task, "mail", CallState.ATTEMPTED)
    with pytest.raises(NotInDoubt, match="attempted"):
        call_settle(
            workspace=people.workspace, task=task.id, name="mail", actor="person:silas", answer="unknown", evidence="?"
        )
    with pytest.raises(NotFound):
        call_settle(
            workspace=people.workspace, task=task.id, name="none", actor="person:silas", answer="unknown", evidence="?"
        )


def test_an_answer_needs_evidence_and_must_be_one_that_exists(people: People, task: Task) -> None:
    with pytest.raises(InvalidInput, match="evidence"):
        call_settle(
            workspace=people.workspace, task=task.id, name="pay", actor="person:silas", answer="unknown", evidence=" "
        )
    with pytest.raises(InvalidInput, match="answer"):
        settle(people, task, "perhaps")


def test_run_again_is_a_new_call_with_a_new_key_that_needs_an_approval_of_its_own(people: People) -> None:
    task = new_task(people.workspace, people.rhea, agent="test.shouter")
    assert task_run(task.id, worker_here()).status == "in_doubt"
    moment = not_before(Call.objects.get(task=task))
    assert moment is not None
    wait_for(lambda: database_now() > moment, what="the last deadline")
    first = run_again(people, task)
    new = Call.objects.get(task=task, name="shout #2")
    assert (first.state, first.replaced_by, new.state) == ("withdrawn", "shout #2", "asked")
    assert new.key != first.key
    assert Event.objects.get(stream=task.id, seq=new.intended_seq).data["replaces"] == "shout"
    waiting = task_run(task.id, worker_here())
    assert (waiting.status, waiting.wait and waiting.wait["kind"]) == ("waiting", "approval")
    assert run_again(people, task).replaced_by == "shout #2"
    assert Call.objects.filter(task=task).count() == 2


def test_run_again_is_refused_while_a_late_arrival_is_possible(people: People) -> None:
    task = new_task(people.workspace, people.rhea, agent="test.shouter")
    task_run(task.id, worker_here())
    with pytest.raises(TooEarly):
        run_again(people, task)
    assert Call.objects.get(task=task).state == "in_doubt"


def test_nothing_is_run_again_in_a_task_that_is_being_cancelled(people: People) -> None:
    task = new_task(people.workspace, people.rhea, agent="test.shouter")
    task_run(task.id, worker_here())
    task_cancel(workspace=people.workspace, task=task.id, actor="person:rhea", reason="enough")
    with pytest.raises(CannotRunAgain, match="nothing further starts"):
        run_again(people, task)


def run_again(people: People, task: Task) -> Call:
    return call_settle(
        workspace=people.workspace,
        task=task.id,
        name="shout",
        actor="person:silas",
        answer="run_again",
        evidence="the neighbours heard nothing",
    )
