"""All sockets of a process that follow tasks: their rights, rows and heads are read together, round by round.

Each feed still keeps what its own page has. What is alike for several of them (the task, the events after a cursor,
their rows, the head for the same roles) is read and rendered once a round.
"""

from dataclasses import dataclass

from tasks_app.live.audience import principals_of_tasks
from tasks_app.live.message import Message, Reading
from tasks_app.live.reader import Listener
from tasks_app.live.task_feed import TaskFeed
from tasks_app.live.task_round import Round, tasks_followed
from tasks_app.live.threads import read_in_thread
from tasks_app.live.together import Together


@dataclass(frozen=True, slots=True)
class Member:
    """One socket's question: what is new after its cursor; None only asks whether it may still read."""

    feed: TaskFeed
    listener: Listener
    after: int | None = None


def round_read(members: list[Member]) -> list[Reading | BaseException]:
    """Answer each member; Withdrawn where the right is gone, whatever a read raised where it did not succeed."""
    tasks = tasks_followed({member.feed.task for member in members})
    principals = principals_of_tasks([(member.listener, member.feed.task) for member in members], tasks)
    once = Round.of(tasks)
    answers: list[Reading | BaseException] = []
    for member, principal in zip(members, principals, strict=True):
        if isinstance(principal, BaseException):
            answers.append(principal)
        elif member.after is None:
            answers.append(Reading(messages=[], cursor=0, head=0))
        else:
            try:
                answers.append(member.feed.read_as(principal, member.after, once))
            except Exception as error:  # of this one socket; the others are answered
                answers.append(error)
    return answers


def round_rest(feeds: list[TaskFeed]) -> list[list[Message] | BaseException]:
    """Return the changed parts of the head for each feed."""
    once = Round()
    return [feed.rest_as(once) for feed in feeds]


async def _read(members: list[Member]) -> list[Reading | BaseException]:
    return await read_in_thread(round_read, members)


async def _rest(feeds: list[TaskFeed]) -> list[list[Message] | BaseException]:
    return await read_in_thread(round_rest, feeds)


readings: Together[Member, Reading] = Together(_read)
rests: Together[TaskFeed, list[Message]] = Together(_rest)
