"""How often a click and an attempt go to the database: each statement is a round trip that a person waits for."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from approvals_app.models import ApprovalRequest
from approvals_app.services.decide import approval_decide
from approvals_app.status import Answer, Via
from tasks_app.decisions import Decision, complete
from tasks_app.leases import lease_claim
from tasks_app.models import Task
from tasks_app.registry import agent
from tasks_app.runtime.session import Session
from tasks_app.testing import StillKeeper, worker_here
from tasks_app.view import TaskView
from tests.desk import CLEAN, GATE, Desk, as_person, decide, parked


@agent("trips.cleaner")
def cleaner(view: TaskView) -> Decision:
    return complete()


def approved(desk: Desk) -> ApprovalRequest:
    """Return an approved request of a task that this process may claim."""
    request = parked(desk)
    Task.objects.filter(pk=request.task_id).update(agent="trips.cleaner")
    decide(request, desk.rhea)
    return request


@contextmanager
def statements(most: int) -> Iterator[None]:
    """At most so many statements, besides the append (it has a cursor of its own) and the transaction's ends."""
    with CaptureQueriesContext(connection) as asked:
        yield
    found = [one["sql"] for one in asked if one["sql"] not in {"BEGIN", "COMMIT"}]
    assert len(found) <= most, "\n".join(found)


def test_a_decision_takes_five_statements_and_the_append(desk: Desk) -> None:
    """Both locks, the moment after them, the answer, the decision."""
    request = parked(desk)
    rhea = as_person(desk.rhea, desk.workspace)
    with statements(5):
        approval_decide(
            approval=request.pk,
            principal=rhea,
            decision=Answer.APPROVED,
            reason="",
            digest=request.digest,
            via=Via.API,
        )
    assert ApprovalRequest.objects.get(pk=request.pk).status == "approved"


def test_a_claim_takes_two_statements_and_the_append_and_its_slice_begins_with_what_they_read(desk: Desk) -> None:
    request = approved(desk)
    worker = worker_here()
    with statements(2):
        lease = lease_claim(task=request.task_id, worker=worker)
    assert lease is not None
    with statements(0):
        session = Session(lease=lease, keeper=StillKeeper(), drain=lambda: False)
    assert session.open["clean"].state == "approved"
    known, read = session.task, Task.objects.get(pk=request.task_id)
    for name in (field.attname for field in Task._meta.concrete_fields if field.attname != "head_digest"):
        assert getattr(known, name) == getattr(read, name), name


def test_what_t1_asks_under_the_tasks_lock_takes_four_statements(desk: Desk) -> None:
    """The approval's lock, the moment after it, whose answers count, the use."""
    request = approved(desk)
    lease = lease_claim(task=request.task_id, worker=worker_here())
    assert lease is not None
    session = Session(lease=lease, keeper=StillKeeper(), drain=lambda: False)
    call = session.open["clean"]
    with transaction.atomic():
        with statements(4):
            said = GATE.admit(task=session.task, call=call, contract=CLEAN, digest=call.digest, first=True)
        assert said.admitted
        transaction.set_rollback(True)
