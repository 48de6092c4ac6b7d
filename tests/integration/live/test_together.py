"""Many sockets at once are answered together, and each as strictly as if it had asked alone."""

import asyncio
from collections.abc import Callable
from http.cookies import SimpleCookie

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from core.models import Membership
from tasks_app.live.audience import principals_of_tasks
from tasks_app.live.reader import Listener, Withdrawn
from tasks_app.live.task_feed import TaskFeed
from tasks_app.live.task_room import Member, round_read
from tasks_app.live.task_round import tasks_followed
from tasks_app.live.together import Together
from tasks_app.models import Task
from tests.integration.live.conftest import session_of
from tests.people import People
from tests.records import new_task


@pytest.fixture
def task(people: People) -> Task:
    return new_task(people.workspace, people.rhea)


def listener(user: User) -> Listener:
    cookies = SimpleCookie(session_of(user))
    return Listener(cookies={name: morsel.value for name, morsel in cookies.items()})


def may(who: Listener, task: Task) -> bool:
    """Whether this listener may read; asked together and alone, which must agree."""
    (together,) = principals_of_tasks([(who, task.pk)], tasks_followed([task.pk]))
    try:
        alone: object = who.of_task(task.pk)
    except Withdrawn as withdrawn:
        alone = withdrawn
    assert isinstance(together, Withdrawn) == isinstance(alone, Withdrawn)
    if not isinstance(together, Withdrawn):
        assert together == alone
    return not isinstance(together, Withdrawn)


def close_account(people: People) -> None:
    User.objects.filter(pk=people.silas.pk).update(is_active=False)


def change_password(people: People) -> None:
    people.silas.set_password("another horse battery")
    people.silas.save()


def end_session(people: People) -> None:
    Session.objects.all().delete()


def let_session_run_out(people: People) -> None:
    Session.objects.update(expire_date=timezone.now())


def take_roles(people: People) -> None:
    Membership.objects.filter(user=people.silas).delete()


@pytest.mark.parametrize("withdraw", [close_account, change_password, end_session, let_session_run_out, take_roles])
def test_what_takes_a_right_away_takes_it_away_at_the_next_question(
    people: People, task: Task, withdraw: Callable[[People], None]
):
    silas = listener(people.silas)
    assert may(silas, task)
    assert may(silas, task)  # by what is remembered
    withdraw(people)
    assert not may(silas, task)


def test_outsiders_strangers_and_unknown_tasks_are_refused(people: People, task: Task):
    assert not may(listener(people.tobin), task)
    assert not may(Listener(cookies={}), task)
    assert not may(Listener(cookies={"sessionid": "nonsense"}), task)
    task.pk = people.workspace.pk
    assert not may(listener(people.silas), task)


def feed_of(who: Listener, task: Task) -> TaskFeed:
    return TaskFeed(task=task.pk, who=lambda: who.of_task(task.pk), timeline=True)


def test_a_round_of_many_asks_the_database_no_more_than_one_of_few(people: People, task: Task):
    def asked(count: int) -> int:
        members = []
        for number in range(count):
            who = listener(people.rhea if number % 2 else people.silas)
            members.append(Member(feed_of(who, task), who, 0))
        round_read(members)  # the proofs are remembered
        with CaptureQueriesContext(
            connection,
        ) as queries:
            answers = round_read(members)
        assert len({repr(answer) for answer in answers}) == 1
        return len(queries)

    assert asked(40) == asked(2) == 4  # the task, the sessions, the members, the events


def test_one_refused_reader_costs_the_others_nothing(people: People, task: Task):
    tobin, rhea = listener(people.tobin), listener(people.rhea)
    refused, told = round_read([Member(feed_of(who, task), who, 0) for who in (tobin, rhea)])
    assert isinstance(refused, Withdrawn)
    assert not isinstance(told, BaseException)
    assert told.cursor == 1


def test_nobody_is_answered_by_work_that_began_before_they_asked():
    async def story() -> None:
        begun: list[list[int]] = []
        go = asyncio.Event()

        async def work(questions: list[int]) -> list[int | BaseException]:
            begun.append(list(questions))
            await go.wait()
            return [ValueError("no") if one == 3 else one * 10 for one in questions]

        together: Together[int, int] = Together(work)
        first = asyncio.create_task(together.ask(1))
        while not begun:
            await asyncio.sleep(0)
        later = [asyncio.create_task(together.ask(number)) for number in (2, 3, 4)]
        gone = asyncio.create_task(together.ask(5))
        await asyncio.sleep(0)
        gone.cancel()
        go.set()
        assert await first == 10
        answers = await asyncio.gather(*later, return_exceptions=True)
        assert (answers[0], str(answers[1]), answers[2]) == (20, "no", 40)
        assert begun == [[1], [2, 3, 4, 5]]

    asyncio.run(story())


def test_a_mistake_in_the_work_reaches_everybody_who_asked_and_the_next_are_answered():
    async def story() -> None:
        wrong = [True]

        async def work(questions: list[int]) -> list[int | BaseException]:
            if wrong.pop():
                wrong.append(False)
                raise OSError("away")
            wrong.append(False)
            return list(questions)

        together: Together[int, int] = Together(work)
        failed = await asyncio.gather(together.ask(1), together.ask(2), return_exceptions=True)
        assert [str(one) for one in failed] == ["away", "away"]
        assert await together.ask(3) == 3

    asyncio.run(story())


def test_nobody_waits_for_ever_when_the_work_is_cut_off_or_answers_too_few():
    async def story() -> None:
        how = ["cut", "few", "well"]

        async def work(questions: list[int]) -> list[int | BaseException]:
            match how.pop(0):
                case "cut":
                    raise asyncio.CancelledError
                case "few":
                    return list(questions)[1:]
            return list(questions)

        together: Together[int, int] = Together(work)
        async with asyncio.timeout(10):
            cut = await asyncio.gather(*(together.ask(one) for one in (1, 2)), return_exceptions=True)
            few = await asyncio.gather(*(together.ask(one) for one in (1, 2)), return_exceptions=True)
            assert await together.ask(3) == 3
        assert [type(one) for one in cut] == [asyncio.CancelledError] * 2
        assert [type(one) for one in few] == [ValueError] * 2

    asyncio.run(story())
