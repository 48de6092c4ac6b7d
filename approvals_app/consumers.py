"""Sockets of the desk and of a card. Nothing can be decided over one (rule 11)."""

import asyncio
from functools import partial
from uuid import UUID

from approvals_app.live.card_feed import CardFeed
from approvals_app.live.desk_feed import DeskFeed
from approvals_app.live.looking import looking, looking_html, sentence
from approvals_app.live.reader import card_reader, desk_reader
from approvals_app.models import ApprovalRequest
from approvals_app.rights import workspaces_of
from core.access import Right
from core.hints import group_of, list_group_of
from tasks_app.consumers import LiveConsumer
from tasks_app.live.feed import Feed
from tasks_app.live.reader import Withdrawn


class DeskConsumer(LiveConsumer):
    """Follows the visible rows of the desk."""

    def opened(self) -> tuple[Feed, list[str]]:
        """Follow the rows that the address names."""
        query = self.scope.get("query_string", b"").decode("latin1")
        user = desk_reader(self.listener)
        feed = DeskFeed.of(query, partial(desk_reader, self.listener), self.listener.csrf_token())
        workspaces = workspaces_of(user=user, right=Right.APPROVALS_READ)
        return feed, [list_group_of(workspace) for workspace in workspaces]


class CardConsumer(LiveConsumer):
    """Follows one card, and says who else is looking at it."""

    async def connect(self) -> None:
        """Follow the card; once it may be followed, be seen looking at it."""
        self.reader = ""
        await super().connect()
        if self.jobs:
            self.approval: UUID = self.scope["url_route"]["kwargs"]["approval"]
            look = looking(approval=self.approval, name=self.reader, changed=self._others)
            self.jobs.append(asyncio.create_task(look))

    async def _others(self, names: list[str]) -> None:
        said = sentence(names)
        await self._send({"html": looking_html(self.approval, names)} | ({"say": f"{said}."} if said else {}))

    def opened(self) -> tuple[Feed, list[str]]:
        """Follow the approval of the address."""
        approval: UUID = self.scope["url_route"]["kwargs"]["approval"]
        who = partial(card_reader, self.listener, approval)
        user = who().user
        self.reader = user.get_full_name() or user.get_username()
        task = ApprovalRequest.objects.filter(pk=approval).values_list("task_id", flat=True).first()
        if task is None:
            raise Withdrawn
        feed = CardFeed(approval=approval, who=who, csrf_token=self.listener.csrf_token())
        return feed, [group_of(task)]
