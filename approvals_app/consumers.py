"""Sockets of the desk, of a card and of the page of stops. Nothing can be decided over one (rule 11)."""

import asyncio
from contextlib import suppress
from functools import partial
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User

from approvals_app.live.card_feed import CardFeed
from approvals_app.live.desk_feed import Beside, DeskFeed
from approvals_app.live.looking import looking, looking_html, name_of, sentence
from approvals_app.live.reader import card_reader, desk_reader
from approvals_app.live.stops_feed import StopsFeed
from approvals_app.models import ApprovalRequest
from approvals_app.rights import workspaces_of
from approvals_app.services.presented import approval_opened
from core.access import Right
from core.hints import group_of, list_group_of
from tasks_app.live.consumer import LiveConsumer
from tasks_app.live.feed import Feed
from tasks_app.live.reader import Withdrawn
from tasks_app.live.threads import read_in_thread
from tasks_app.services.stops import GROUP


class LookingConsumer(LiveConsumer):
    """A page that shows a card: its reader is seen looking at it, and told who else is."""

    reader = ""
    looked: UUID | None = None
    look: asyncio.Task[None] | None = None
    names: list[str] | None = None  # not known yet

    def known_as(self, user: User) -> None:
        """Be this person to the others."""
        self.reader = name_of(user)

    async def look_at(self, approval: UUID | None) -> None:
        """Be seen looking at this card and at no other; at none where it may not be read."""
        if approval == self.looked:
            return
        if self.look is not None:
            self.jobs.remove(self.look)
            self.look.cancel()
        self.looked, self.look, self.names = approval, None, None
        if approval is not None and await self._may_read(approval):
            told = partial(self._others, approval)  # at once, and whenever it changes
            self.look = asyncio.create_task(looking(approval=approval, name=self.reader, changed=told))
            self.jobs.append(self.look)

    async def ordered(self, order: dict[str, Any]) -> None:
        """Say again who else looks, where the page resumes: while it was paused it threw away what came."""
        await super().ordered(order)
        if order.get("type") == "resume" and self.names is not None and self.looked is not None:
            await self._send({"html": looking_html(self.looked, self.names)})

    async def _others(self, approval: UUID, names: list[str]) -> None:
        if approval != self.looked:
            return
        if not await self._may_read(approval):
            await self.look_at(None)
            return
        self.names, said = names, sentence(names)
        await self._send({"html": looking_html(approval, names)} | ({"say": f"{said}."} if said else {}))

    async def _may_read(self, approval: UUID) -> bool:
        try:
            await read_in_thread(card_reader, self.listener, approval)
        except Withdrawn:
            return False
        return True


class DeskConsumer(LookingConsumer):
    """Follows the visible rows of the desk, and says who else looks at the card that is shown beside them."""

    def opened(self) -> tuple[Feed, list[str]]:
        """Follow the rows that the address names."""
        query = self.scope.get("query_string", b"").decode("latin1")
        user = desk_reader(self.listener)
        self.known_as(user)
        listener = self.listener
        self.desk = DeskFeed.of(query, partial(desk_reader, listener), listener.csrf_token(), listener.stepped_up_at)
        workspaces = workspaces_of(user=user, right=Right.APPROVALS_READ)
        return self.desk, [list_group_of(workspace) for workspace in workspaces]

    async def ordered(self, order: dict[str, Any]) -> None:
        """Take ``looking`` with the card that the page shows and its state, too; an empty text where it shows none."""
        await super().ordered(order)
        if order.get("type") == "looking":
            try:
                beside = Beside.of(order.get("approval"), order.get("shown"))
            except ValueError:
                return
            self.desk.beside = beside
            await self.look_at(beside.approval if beside else None)
            if beside is not None:
                await self._seen(beside.approval)
                self.changed.set()  # it may be another by now than the page has read

    async def _seen(self, approval: UUID) -> None:
        """Note that the card beside the list is before its reader, where they may read it."""
        with suppress(Withdrawn):
            await read_in_thread(_opened, self.listener, approval)


def _opened(listener: Any, approval: UUID) -> None:
    approval_opened(approval=approval, user=card_reader(listener, approval).user)


class CardConsumer(LookingConsumer):
    """Follows one card, and says who else is looking at it."""

    async def begin(self) -> None:
        """Follow the card; once it may be followed, be seen looking at it."""
        await super().begin()
        await self.look_at(self.scope["url_route"]["kwargs"]["approval"])

    def opened(self) -> tuple[Feed, list[str]]:
        """Follow the approval of the address."""
        approval: UUID = self.scope["url_route"]["kwargs"]["approval"]
        who = partial(card_reader, self.listener, approval)
        self.known_as(who().user)
        task = ApprovalRequest.objects.filter(pk=approval).values_list("task_id", flat=True).first()
        if task is None:
            raise Withdrawn
        feed = CardFeed(approval=approval, who=who, csrf_token=self.listener.csrf_token())
        return feed, [group_of(task)]


class StopsConsumer(LiveConsumer):
    """Follows the stops that the page shows."""

    def opened(self) -> tuple[Feed, list[str]]:
        """Follow the stops that the address names."""
        query = self.scope.get("query_string", b"").decode("latin1")
        user = desk_reader(self.listener)
        feed = StopsFeed.of(query, partial(desk_reader, self.listener), self.listener.csrf_token())
        workspaces = workspaces_of(user=user, right=Right.APPROVALS_READ)
        return feed, [GROUP, *(list_group_of(workspace) for workspace in workspaces)]
