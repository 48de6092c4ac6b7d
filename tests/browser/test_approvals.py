"""The desk and the card in a real browser: by keyboard, at 360 px, in both themes, without scripts."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from approvals_app.models import ApprovalRequest
from tests.browser.axe import axe_clean
from tests.browser.conftest import heard, listen, live
from tests.desk import Desk, decide, desk_create, parked

Opens = Callable[..., BrowserContext]


@pytest.fixture
def desk(transactional_db: None) -> Desk:
    return desk_create()


def opened(context: BrowserContext, request: ApprovalRequest) -> tuple[Page, list[str]]:
    page = context.new_page()
    seen: list[str] = []
    listen(page, seen)
    page.goto("/approvals/")
    page.locator(f"#approval-{request.pk} [data-row-link]").press("Enter")
    expect(page.locator("h1")).to_contain_text(request.line[:20])
    return heard(page), seen


def status_of(request: ApprovalRequest) -> str:
    return ApprovalRequest.objects.get(pk=request.pk).status


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_list_and_the_card_are_clean_for_axe_and_fit_360_px(desk: Desk, signed_in: Opens, theme: Any):
    request = parked(desk, arguments={"path": "/a/" + "long" * 60 + "\u202e"})
    context = signed_in(desk.rhea, color_scheme=theme, viewport={"width": 360, "height": 740})
    page, seen = opened(context, request)
    expect(page.get_by_role("button", name="Approve")).to_be_visible()
    axe_clean(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.goto("/approvals/")
    axe_clean(page)
    assert seen == []


def answered(page: Page) -> None:
    """Ask the server once more and wait for its answer: what a key had the page send before is under way by then."""
    assert page.evaluate("fetch(location.href).then((answer) => answer.status)") == 200


def test_single_keys_never_decide_but_the_buttons_do_by_keyboard(desk: Desk, signed_in: Opens):
    request = parked(desk)
    page, seen = opened(signed_in(desk.rhea), request)
    sent = list[str]()
    page.on("request", lambda one: sent.append(one.url) if one.method == "POST" else None)
    for key in ("a", "y", "Enter", "d", "n", "x", "Control+Enter"):
        page.keyboard.press(key)
        answered(page)
        page.goto(f"/approvals/{request.pk}/")
    page.keyboard.press("Escape")
    page.wait_for_url("**/approvals/*")
    page.goto(f"/approvals/{request.pk}/")
    page.get_by_label("Reason").focus()
    page.keyboard.type("looks right")
    page.keyboard.press("Control+Enter")
    answered(page)
    assert (sent, status_of(request)) == ([], "requested")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Approve")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("You approved this call.")).to_be_visible()
    assert (status_of(request), len(sent), seen) == ("approved", 1, [])


def test_without_scripts_the_card_can_be_read_and_decided(desk: Desk, signed_in: Opens):
    request = parked(desk)
    page, _ = opened(signed_in(desk.rhea, java_script_enabled=False), request)
    expect(page.get_by_text("/scratch/a").first).to_be_visible()
    page.get_by_label("Reason").fill("not now")
    page.get_by_role("button", name="Deny").click()
    expect(page.get_by_text("Already denied by rhea")).to_be_visible()
    assert status_of(request) == "denied"


def test_of_two_people_on_one_card_the_second_sees_the_first_ones_answer_at_once_and_keeps_what_was_typed(
    desk: Desk, signed_in: Opens
):
    request = parked(desk)
    first, _ = opened(signed_in(desk.rhea), request)
    second, seen = opened(signed_in(desk.silas), request)
    live(second)
    second.get_by_label("Reason").fill("not while the release")
    first.get_by_role("button", name="Approve").click()
    expect(second.locator(".card-state")).to_contain_text("Already approved by rhea at")
    expect(second.locator(".card-send")).to_contain_text("Approved by rhea")
    expect(second.get_by_role("button", name="Deny")).to_have_count(0)
    expect(second.get_by_label("Reason").first).to_have_value("not while the release")
    expect(second.get_by_label("Reason").first).to_be_focused()
    axe_clean(second)
    assert seen == []


def test_a_stale_card_answers_a_click_with_the_fresh_one(desk: Desk, signed_in: Opens):
    request = parked(desk)
    page, _ = opened(signed_in(desk.silas), request)
    page.get_by_role("button", name="Pause").click()
    decide(request, desk.rhea)
    page.get_by_role("button", name="Deny").click()
    expect(page.get_by_role("alert").filter(has_text="Already approved by rhea at")).to_be_visible()
    expect(page.get_by_role("button", name="Deny")).to_have_count(0)
    axe_clean(page)


def test_the_buttons_rest_from_the_first_press_on(desk: Desk, signed_in: Opens):
    request = parked(desk)
    page, _ = opened(signed_in(desk.rhea), request)
    posts: list[str] = []
    page.on("request", lambda sent: posts.append(sent.method) if sent.method == "POST" else None)
    page.get_by_role("button", name="Approve").dblclick()
    expect(page.get_by_text("You approved this call.")).to_be_visible()
    assert posts == ["POST"]
