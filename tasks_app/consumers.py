"""Sockets of live pages. Nothing can be decided over one: it takes ``resume``, and the desk which card is open."""

from functools import partial
from uuid import UUID

from core.hints import group_of, list_group_of
from tasks_app.live.consumer import LiveConsumer
from tasks_app.live.doubt_feed import DoubtFeed
from tasks_app.live.feed import Feed, FrameFeed
from tasks_app.live.list_feed import ListFeed
from tasks_app.live.message import Message, Reading
from tasks_app.live.task_feed import TaskFeed
from tasks_app.live.task_room import Member, readings, rests


class TaskConsumer(LiveConsumer):
    """Follows one task's record by its sequence."""

    def opened(self) -> tuple[Feed, list[str]]:
        """Follow the task of the address."""
        task: UUID = self.scope["url_route"]["kwargs"]["task"]
        who = partial(self.listener.of_task, task)
        timeline = b"timeline=1" in self.scope.get("query_string", b"")
        who()
        self.task_feed = TaskFeed(task=task, who=who, timeline=timeline, csrf_token=self.listener.csrf_token())
        return self.task_feed, [group_of(task)]

    async def feed_check(self) -> None:
        """Ask together with the other sockets on tasks."""
        await readings.ask(Member(self.task_feed, self.listener))

    async def feed_read(self) -> Reading:
        """Read together with the other sockets on tasks."""
        return await readings.ask(Member(self.task_feed, self.listener, self.cursor))

    async def feed_rest(self) -> list[Message]:
        """Read together with the other sockets on tasks."""
        return await rests.ask(self.task_feed)


class TaskListConsumer(LiveConsumer):
    """Follows the visible rows of a list; there is no cursor."""

    def opened(self) -> tuple[Feed, list[str]]:
        """Follow the rows that the address names."""
        query = self.scope.get("query_string", b"").decode("latin1")
        slug = ListFeed.workspace_of(query)
        principal = self.listener.in_workspace(slug)
        feed = ListFeed.of(query, partial(self.listener.in_workspace, slug))
        return feed, [list_group_of(principal.workspace.pk)]


class DoubtConsumer(LiveConsumer):
    """Follows the card of a call in doubt."""

    def opened(self) -> tuple[Feed, list[str]]:
        """Follow the call of the address."""
        named = self.scope["url_route"]["kwargs"]
        task: UUID = named["task"]
        who = partial(self.listener.of_task, task)
        who()
        return DoubtFeed(task=task, name=named["name"], who=who), [group_of(task)]


class FrameConsumer(LiveConsumer):
    """Keeps the frame of a page fresh whose content is not live."""

    def opened(self) -> tuple[Feed, list[str]]:
        """Follow nothing but the frame."""
        self.listener.user()
        return FrameFeed(who=self.listener.user), []
