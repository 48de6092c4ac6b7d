"""The card beside the desk's list: what became of it since the page read it is told, whatever was read in between."""

import json
import re

from django.test import Client
from django.urls import reverse
from websockets.sync.client import ClientConnection

from approvals_app.live.desk_feed import Beside, DeskFeed
from approvals_app.models import ApprovalRequest
from tests.desk import Desk, decide, parked, rule
from tests.integration.live.conftest import Live, Page, session_of


class DeskPage:
    """rhea's desk with a card beside its list, as its script keeps it."""

    def __init__(self, live: Live, desk: Desk, request: ApprovalRequest) -> None:
        self.request, cookie = request, session_of(desk.rhea)
        self.client = Client(headers={"cookie": cookie})
        answer = self.client.get(reverse("approvals"))
        self.query, self.html = answer.context["live"], answer.content.decode()
        self.page = Page(lambda: live.socket(f"/ws/approvals/?{self.query}", cookie=cookie), 0)

    @property
    def shown(self) -> str:
        return re.findall(rf'id="card-state-{self.request.pk}"[^>]* data-shown="(\w+)"', self.html)[-1]

    def look(self) -> None:
        assert isinstance(self.page.socket, ClientConnection)
        order = {"type": "looking", "approval": str(self.request.pk), "shown": self.shown}
        self.page.socket.send(json.dumps(order))

    def poll(self) -> str:
        query = f"{self.query}&looking={self.request.pk}&shown={self.shown}"
        told = str(self.client.get(f"{reverse('approvals-live')}?{query}").json()["html"])
        self.html += told
        return told


def waiting_for_two(desk: Desk) -> ApprovalRequest:
    rule(desk, "two", "true", quorum=2)
    return parked(desk)


def test_the_first_answer_after_the_card_was_fetched_is_told(live: Live, desk: Desk):
    hers = DeskPage(live, desk, request := waiting_for_two(desk))
    assert "0 of 2" in hers.html
    hers.page.connect()
    hers.page.until_head()
    hers.look()
    decide(request, desk.silas)
    while "1 of 2" not in hers.page.html:
        hers.page.take(5.0)  # by its hint, not by the clock


def test_an_answer_between_the_fetching_of_a_card_and_the_word_of_it_is_told_at_once(live: Live, desk: Desk):
    hers = DeskPage(live, desk, request := waiting_for_two(desk))
    decide(request, desk.silas)
    hers.page.connect()
    hers.page.until_head()
    hers.look()
    while "1 of 2" not in hers.page.html:
        hers.page.take(5.0)


def test_a_page_without_a_socket_is_told_of_an_answer_to_the_card_that_it_shows(live: Live, desk: Desk):
    hers = DeskPage(live, desk, request := waiting_for_two(desk))
    card = f'id="card-state-{request.pk}"'
    assert card not in hers.poll()
    decide(request, desk.silas)
    assert "1 of 2" in hers.poll()
    assert card not in hers.poll()  # the page says again which state it has by now


def test_what_a_paused_page_threw_away_is_told_when_it_says_what_it_shows(live: Live, desk: Desk):
    hers = DeskPage(live, desk, request := waiting_for_two(desk))
    feed = DeskFeed.of(hers.query, lambda: desk.rhea)
    card = f'id="card-state-{request.pk}"'

    def told() -> str:
        return "".join(str(message["html"]) for message in feed.read().messages)

    feed.beside = Beside(request.pk, hers.shown)
    assert card not in told()
    decide(request, desk.silas)
    assert card in told()
    assert card not in told()
    feed.beside = Beside(request.pk, hers.shown)
    assert card in told()
