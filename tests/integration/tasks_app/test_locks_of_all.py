"""Whoever is stopped with a lock for which everybody waits keeps it no longer than a lease."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from django.db import InternalError, connection, transaction

from chaos_app.services.launch import launches_locked
from core.access import Role
from tasks_app.cluster import cluster_check
from tasks_app.models import Task
from tasks_app.record.append import Admission, CallChange, Token, append, append_administration
from tasks_app.record.events import After, CallAttempted, SwitchChanged
from tasks_app.services import stops
from tasks_app.services.access import roles_set, workspace_change
from tasks_app.status import CallState
from tests.people import People
from tests.records import WORKER, call_in, kinds, leased, new_task

pytestmark = pytest.mark.django_db(transaction=True)
BOUND = 0.5  # seconds
Act = Callable[[People], object]
LET_GO = "SET LOCAL lock_timeout = '20s'"  # of the test's own session, where nobody gives the lock back


@contextmanager
def stopped(does: Callable[[Callable[[], None]], object]) -> Iterator[list[InternalError]]:
    """Have it stand still, in a session of its own, where it calls what it is given; yields what came of it."""
    stands, go, problems = threading.Event(), threading.Event(), []

    def stall() -> None:
        stands.set()
        go.wait(60)

    def act() -> None:
        try:
            does(stall)
        except InternalError as error:
            problems.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=act)
    thread.start()
    try:
        assert stands.wait(10)
        yield problems
    finally:
        go.set()
        thread.join()


def attempt(task: Task) -> None:
    assert task.lease_nonce is not None
    append(
        stream=task.id,
        events=[CallAttempted(name="pay", attempt=1, key="k", send_by=After(2), deadline=After(12))],
        actor=WORKER,
        token=Token(epoch=1, nonce=task.lease_nonce),
        calls=[CallChange(name="pay", set={"state": "attempted"})],
        admission=Admission(attempts={"ledger.pay": 1}),
    )


def test_who_stands_still_as_a_stop_is_set_holds_up_no_attempt(people: People, settings, monkeypatch) -> None:
    task = new_task(people.workspace, people.rhea)
    call_in(task, "pay", CallState.INTENDED)
    task = leased(task)
    settings.LEASE_SECONDS = BOUND
    real = stops.StopSwitch.objects.filter

    def sets(stall: Callable[[], None]) -> None:
        def standing(**place):
            stall()
            return real(**place)

        with monkeypatch.context() as patch:
            patch.setattr(stops.StopSwitch.objects, "filter", standing)
            stops.stop_set(
                workspace=people.workspace,
                scope="agent",
                name="test.free",
                reason="runaway",
                user=people.rhea,
                actor="person:rhea",
            )

    with stopped(sets) as problems, transaction.atomic():
        connection.cursor().execute(LET_GO)
        attempt(task)
    assert kinds(task)[-1] == "call.attempted"
    assert [error.__cause__.sqlstate for error in problems] == ["25P03"]


def administers(people: People) -> None:
    event = SwitchChanged(what="drills off", after_change=None, reason="fixed")
    append_administration(workspace=people.workspace.pk, events=[event], actor="person:rhea")


def keeps_roles(people: People) -> None:
    roles_set(workspace=people.workspace, user=people.silas, roles=[Role.VIEWER], actor="person:rhea")


def keeps_names(people: People) -> None:
    name, days = people.workspace.name, people.workspace.keep_days
    workspace_change(workspace=people.workspace, name=name, keep_days=days, actor="person:rhea")


def launches(people: People) -> None:
    launches_locked()


def compares_the_server(people: People) -> None:
    assert cluster_check()


@pytest.mark.parametrize(
    ("holds", "needs"),
    [
        (administers, administers),
        (keeps_roles, administers),
        (keeps_names, administers),
        (launches, launches),
        (compares_the_server, compares_the_server),
    ],
)
def test_who_stands_still_with_a_lock_for_which_all_wait_gives_it_back(
    people: People, settings, holds: Act, needs: Act
) -> None:
    keeps_roles(people)
    compares_the_server(people)
    settings.LEASE_SECONDS = BOUND

    def holding(stall: Callable[[], None]) -> None:
        with transaction.atomic():
            holds(people)
            stall()
            Task.objects.count()

    with stopped(holding) as problems, transaction.atomic():
        connection.cursor().execute(LET_GO)
        needs(people)
    assert [error.__cause__.sqlstate for error in problems] == ["25P03"]
