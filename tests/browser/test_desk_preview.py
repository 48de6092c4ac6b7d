"""The card beside the list is as live as the card itself, and what is swapped in it takes no focus and no text."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, expect

from approvals_app.status import Answer
from core.hints import live_hint
from tests.browser.conftest import listen, live
from tests.desk import PAY, Desk, decide, desk_create, group, parked, rule

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


def test_high_risk_has_no_buttons_beside_the_list_after_an_answer_either(desk: Desk, signed_in: Opens):
    rule(desk, "two", "true", quorum=2)
    request = parked(desk, PAY, name="pay")
    page = signed_in(desk.rhea, viewport={"width": 1280, "height": 800}).new_page()
    page.goto("/approvals/")
    live(page)
    decide(request, desk.silas)
    preview = page.locator("#preview")
    expect(preview).to_contain_text("1 of 2")
    expect(preview.get_by_role("button", name="Approve")).to_have_count(0)
    expect(preview.get_by_role("link", name="Open the card to decide")).to_be_visible()


def test_whoever_joins_the_group_that_is_asked_can_decide_from_the_card_that_is_open(desk: Desk, signed_in: Opens):
    leads = group(desk, "leads", desk.silas)
    rule(desk, "leads", "true", group="leads")
    request = parked(desk)
    page = signed_in(desk.rhea, viewport={"width": 1280, "height": 800}).new_page()
    page.goto(f"/approvals/{request.pk}/")
    live(page)
    send, approve = page.locator(".card-send"), page.get_by_role("button", name="Approve")
    expect(send).to_contain_text("you do not belong to it")
    leads.members.add(desk.rhea)
    live_hint(stream=request.task_id, workspace=desk.workspace.pk, seq=1)  # else the clock tells it
    expect(send).not_to_contain_text("you do not belong to it")
    expect(approve).not_to_be_visible()  # the page has no form for it
    send.get_by_role("link", name="Open the card to decide").click()
    expect(send.get_by_role("link", name="Open the card to decide")).not_to_be_visible()
    approve.click()
    expect(page.get_by_text("You approved this call.")).to_be_visible()
