"""Who looks at a card is said only to those who may read it, and the desk may name any card it shows."""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from websockets.sync.client import ClientConnection

from approvals_app.live import open_cards
from approvals_app.models import ApprovalRequest
from core.models import Membership
from tests.desk import Desk, parked
from tests.integration.live.conftest import Live, Page, session_of, wait_for


@pytest.fixture
def fresh_store() -> Iterator[None]:
    """No connection of before: the next one is made by the settings of the test, and forgotten with it."""
    open_cards._store.cache_clear()
    yield
    open_cards._store.cache_clear()


def page_of(user: User, address: str) -> str:
    client = Client()
    client.force_login(user)
    answer = client.get(address)
    assert answer.status_code == 200
    found = answer.json()["html"] if answer["Content-Type"] == "application/json" else answer.content.decode()
    return str(found)


def desk_page(live: Live, user: object) -> Page:
    cookie = session_of(user)  # type: ignore[arg-type]
    page = Page(lambda: live.socket("/ws/approvals/?tab=team", cookie=cookie), 0)
    page.connect()
    page.until_head()
    return page


def look(page: Page, approval: object) -> None:
    assert isinstance(page.socket, ClientConnection)
    page.socket.send(json.dumps({"type": "looking", "approval": str(approval)}))


def told(page: Page, request: ApprovalRequest, text: str) -> None:
    while f'id="looking-{request.pk}"' not in page.html or text not in page.html:
        page.take(10.0)


def silent(page: Page, seconds: float = 2.0) -> bool:
    page.html = ""
    with suppress(TimeoutError):
        while True:
            page.take(seconds)
    return "looking" not in page.html


def test_two_desks_that_show_one_card_say_so_to_each_other_and_to_no_stranger(live: Live, desk: Desk):
    request = parked(desk)
    hers, his, theirs = (desk_page(live, user) for user in (desk.rhea, desk.silas, desk.tobin))
    look(theirs, request.pk)
    look(hers, request.pk)
    look(his, request.pk)
    told(hers, request, "silas is looking")
    told(his, request, "rhea is looking")
    assert "tobin" not in hers.html + his.html
    assert silent(theirs)


def test_nonsense_is_left_aside_and_the_desk_goes_on(live: Live, desk: Desk):
    request = parked(desk)
    hers, his = desk_page(live, desk.rhea), desk_page(live, desk.silas)
    for nonsense in ("x", None, 7, {"a": 1}, "0" * 900, live.task.pk):
        look(hers, nonsense)
    look(hers, request.pk)
    look(his, request.pk)
    told(hers, request, "silas is looking")


def test_whoever_lost_the_right_to_the_card_is_told_no_more_names(live: Live, desk: Desk):
    request = parked(desk)
    Membership.objects.create(user=desk.vera, workspace=live.people.elsewhere, role="viewer")  # she keeps a desk
    hers = desk_page(live, desk.vera)
    look(hers, request.pk)
    told(hers, request, "")  # that nobody else is there
    Membership.objects.filter(user=desk.vera, workspace=desk.workspace).delete()
    his = desk_page(live, desk.silas)
    look(his, request.pk)
    assert silent(hers, 3.0)


def test_a_page_without_a_socket_says_who_has_the_card_open_as_it_is_made_and_as_it_asks_again(live: Live, desk: Desk):
    request, other = parked(desk), parked(desk, arguments={"path": "/scratch/b"})
    his = desk_page(live, desk.silas)
    look(his, request.pk)
    told(his, request, "")
    card, line = f"/approvals/{request.pk}/", "silas is looking at this card"
    for address in (card, f"{card}?preview", f"/approvals/?shelf=team&open={request.pk}"):
        assert line in page_of(desk.rhea, address), address
    for address in (f"{card}live/", f"/approvals/live/?tab=team&looking={request.pk}"):
        assert line in page_of(desk.rhea, address), address
    assert "is looking" not in page_of(desk.silas, card)  # his own look is nobody else's
    assert "is looking" not in page_of(desk.rhea, f"/approvals/{other.pk}/")
    look(his, other.pk)
    wait_for(lambda: "is looking" not in page_of(desk.rhea, card))
    wait_for(lambda: line in page_of(desk.rhea, f"/approvals/{other.pk}/"))


def test_without_the_store_the_card_is_whole_and_names_nobody(live: Live, desk: Desk, settings: Any, fresh_store: None):
    request = parked(desk)
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    shown = page_of(desk.rhea, f"/approvals/{request.pk}/")
    assert "Exactly this will run" in shown
    assert "is looking" not in shown
