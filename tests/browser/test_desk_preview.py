"""The card beside the list is as live as the card itself, and what is swapped in it takes no focus and no text."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, expect

from approvals_app.status import Answer
from tests.browser.conftest import listen, live
from tests.desk import Desk, decide, desk_create, parked, rule

Opens = Callable[..., BrowserContext]


@pytest.fixture
def desk(transactional_db: None) -> Desk:
    return desk_create()


def test_another_persons_answer_reaches_the_card_beside_the_list_and_the_focus_stays(desk: Desk, signed_in: Opens):
    rule(desk, "two", "true", quorum=2)
    request = parked(desk)
    page, seen = signed_in(desk.rhea, viewport={"width": 1280, "height": 800}).new_page(), list[str]()
    listen(page, seen)
    page.goto("/approvals/")
    live(page)
    preview = page.locator("#preview")
    expect(preview).to_contain_text("0 of 2")
    approve = preview.get_by_role("button", name="Approve")
    approve.focus()
    decide(request, desk.silas)
    expect(preview).to_contain_text("1 of 2")
    expect(approve).to_be_focused()
    preview.get_by_label("Reason").fill("half a reason")
    decide(request, desk.silas, Answer.DENIED, reason="I have read it again")
    expect(preview).to_contain_text("Already denied by silas")
    expect(preview.get_by_label("Reason").first).to_have_value("half a reason")
    assert seen == []


def test_the_card_beside_the_list_follows_without_a_socket_and_over_a_pause(desk: Desk, signed_in: Opens):
    rule(desk, "two", "true", quorum=2)
    request = parked(desk)
    page, polled = (signed_in(desk.rhea, viewport={"width": 1280, "height": 800}).new_page() for _ in range(2))
    polled.route_web_socket("**/ws/**", lambda socket: socket.close(code=1012))
    for one in (page, polled):
        one.goto("/approvals/")
        live(one)
    page.keyboard.press("p")
    expect(page.locator("#live")).to_have_attribute("data-state", "paused")
    decide(request, desk.silas)
    expect(polled.locator("#preview")).to_contain_text("1 of 2", timeout=15_000)
    expect(page.locator("#preview")).to_contain_text("0 of 2")
    page.keyboard.press("p")
    expect(page.locator("#preview")).to_contain_text("1 of 2")
