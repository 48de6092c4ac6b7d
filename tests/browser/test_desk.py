"""The desk in a real browser: live, with a preview, by keyboard, with 300 cards of one agent, without scripts."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from approvals_app.models import ApprovalRequest
from approvals_app.status import Answer
from core.hints import live_hint
from tasks_app.models import Task
from tests.browser.axe import axe_clean
from tests.browser.conftest import heard, listen, live
from tests.desk import CLEAN, PAY, Desk, claim, decide, desk_create, park, parked, propose, task_create

Opens = Callable[..., BrowserContext]
WIDE = {"width": 1280, "height": 800}
NARROW = {"width": 360, "height": 740}


@pytest.fixture
def desk(transactional_db: None) -> Desk:
    return desk_create()


def told(request: ApprovalRequest) -> ApprovalRequest:
    """Give the hint that the executor gives after its commit."""
    head = Task.objects.values_list("head_seq", flat=True).get(pk=request.task_id)
    live_hint(stream=request.task_id, workspace=request.workspace_id, seq=head)
    return request


def at(context: BrowserContext, address: str) -> tuple[Page, list[str]]:
    page = context.new_page()
    seen: list[str] = []
    listen(page, seen)
    page.goto(address)
    return page, seen


def status_of(request: ApprovalRequest) -> str:
    return ApprovalRequest.objects.get(pk=request.pk).status


def test_a_row_that_is_decided_elsewhere_stays_greyed_with_who_and_when(desk: Desk, signed_in: Opens):
    first, second = parked(desk), parked(desk, arguments={"path": "/scratch/b"})
    page, seen = at(signed_in(desk.rhea, viewport=WIDE), "/approvals/")
    live(page)
    decide(first, desk.silas, Answer.DENIED, reason="no")
    state = page.locator(f"#state-{first.pk}")
    expect(state).to_contain_text("Denied")
    expect(state).to_contain_text("by silas")
    assert [one.get_attribute("id") for one in page.locator(".desk-row").all()] == [
        f"approval-{first.pk}",
        f"approval-{second.pk}",
    ]
    expect(page.locator("#preview")).to_contain_text("Already denied by silas")
    expect(page.locator("#preview").get_by_role("button", name="Approve")).to_have_count(0)
    expect(page.locator(".tabs [aria-current]")).to_contain_text("1")
    axe_clean(page)
    assert seen == []


def test_newcomers_wait_behind_a_link_and_never_move_a_row(desk: Desk, signed_in: Opens):
    parked(desk)
    page, seen = at(signed_in(desk.rhea, viewport=WIDE), "/approvals/")
    live(page)
    told(parked(desk, arguments={"path": "/scratch/new"}))
    link = page.get_by_role("link", name="Show 1 new")
    expect(link).to_be_visible()
    expect(page.locator(".desk-row")).to_have_count(1)
    link.click()
    expect(page.locator(".desk-row")).to_have_count(2)
    assert seen == []


@pytest.mark.parametrize("address", ["/tasks/", "/tasks/start/", "/approvals/?shelf=decided"])
def test_the_badge_is_live_on_every_page(desk: Desk, signed_in: Opens, address: str):
    page, seen = at(signed_in(desk.rhea, viewport=WIDE), address)
    live(page)
    badge = page.locator("#approvals-waiting")
    expect(badge).to_contain_text("0")
    request = told(parked(desk))
    expect(badge).to_contain_text("1")
    expect(page.locator("#place-waiting")).to_contain_text("1")
    expect(page).to_have_title(titled("(1) "))
    decide(request, desk.silas)
    expect(badge).to_contain_text("0")
    expect(page).to_have_title(titled(""))
    assert seen == []


def titled(start: str) -> re.Pattern[str]:
    return re.compile(rf"^{re.escape(start)}[A-Z]")


def test_the_preview_follows_the_keyboard_and_enter_opens_the_card(desk: Desk, signed_in: Opens):
    first, second = parked(desk), parked(desk, arguments={"path": "/scratch/b"})
    page, seen = at(signed_in(desk.rhea, viewport=WIDE), "/approvals/")
    page.keyboard.press("j")
    page.keyboard.press("j")
    preview = page.locator("#preview")
    expect(preview.get_by_role("heading", level=2)).to_contain_text("/scratch/b")
    expect(page).to_have_url(f"{page.url.split('?')[0]}?open={second.pk}")
    preview.get_by_label("Reason").fill("half a sentence")
    page.keyboard.press("Escape")
    page.locator(f"#approval-{first.pk} [data-row-link]").focus()
    expect(preview.get_by_role("heading", level=2)).to_contain_text("/scratch/a")
    page.keyboard.press("j")
    expect(preview.get_by_label("Reason")).to_have_value("half a sentence")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("/scratch/b")
    heard(page)
    page.keyboard.press("[")
    expect(page.get_by_role("heading", level=1)).to_contain_text("/scratch/a")
    assert (status_of(first), status_of(second), seen) == ("requested", "requested", [])


def test_r_goes_to_the_answer_and_back_in_the_list_one_goes_on_from_the_row_that_is_shown(desk: Desk, signed_in: Opens):
    first, second, third = parked(desk), parked(desk, arguments={"path": "/scratch/b"}), parked(desk, PAY, name="pay")
    page, seen = at(signed_in(desk.rhea, viewport=WIDE), "/approvals/")
    live(page)
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("#preview").get_by_role("heading", level=2)).to_contain_text("/scratch/b")
    page.keyboard.press("r")
    expect(page.locator("#preview").get_by_label("Reason")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page.locator(f"#approval-{second.pk} [data-row-link]")).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator(f"#approval-{third.pk} [data-row-link]")).to_be_focused()
    expect(page.locator("#preview").get_by_role("heading", level=2)).to_contain_text("Pay")
    page.keyboard.press("r")
    expect(page.locator("#preview").get_by_role("link", name="Open the card to decide")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Pay")
    heard(page)
    page.keyboard.press("r")
    page.keyboard.type("Not this one")  # letters are letters again
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("You denied this call.")).to_be_visible()
    assert (status_of(first), status_of(second), status_of(third), seen) == ("requested", "requested", "denied", [])


def test_high_risk_is_not_approved_from_the_list(desk: Desk, signed_in: Opens):
    parked(desk, PAY, name="pay")
    page, _ = at(signed_in(desk.rhea, viewport=WIDE), "/approvals/")
    preview = page.locator("#preview")
    expect(preview.get_by_role("button", name="Approve")).to_have_count(0)
    preview.get_by_role("link", name="Open the card to decide").click()
    expect(page.get_by_role("button", name="Approve")).to_be_visible()


def test_300_cards_of_one_runaway_agent_are_one_row(desk: Desk, signed_in: Opens, settings: Any):
    settings.HANDRAIL_APPROVALS_PER_TASK = settings.HANDRAIL_APPROVALS_PER_AGENT = 1000
    other = parked(desk, PAY, name="pay")
    task = task_create(desk, title="Runaway")
    token = claim(task)
    for number in range(300):
        propose(task, CLEAN, f"clean-{number}", {"path": f"/scratch/{number}"}, token=token)
    park(task, token)
    context = signed_in(desk.rhea, viewport=WIDE)
    page, seen = at(context, "/approvals/")
    expect(page.locator(".desk-row")).to_have_count(2)
    expect(page.locator(".desk-group")).to_contain_text("300 requests")
    expect(page.locator(f"#approval-{other.pk}")).to_be_visible()
    axe_clean(page)
    page.locator(".desk-group [data-row-link]").click()
    expect(page.locator(".desk-row")).to_have_count(50)
    page.get_by_role("link", name="Next", exact=True).click()
    expect(page.locator(".desk-row")).to_have_count(50)
    axe_clean(page)
    assert seen == []


def test_without_scripts_the_desk_leads_to_every_card(desk: Desk, signed_in: Opens):
    request = parked(desk)
    page, _ = at(signed_in(desk.rhea, viewport=NARROW, java_script_enabled=False), "/approvals/")
    page.locator(f"#approval-{request.pk} [data-row-link]").click()
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("You approved this call.")).to_be_visible()
    assert status_of(request) == "approved"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW])
@pytest.mark.parametrize("shelf", ["mine", "team", "doubt", "decided", "expired"])
def test_every_shelf_is_clean_for_axe_and_fits(desk: Desk, signed_in: Opens, theme: str, size: dict, shelf: str):
    request = parked(desk, arguments={"path": "/a/" + "long" * 90 + "\u202e"})
    decide(parked(desk), desk.rhea)
    page, seen = at(signed_in(desk.rhea, color_scheme=theme, viewport=size), f"/approvals/?shelf={shelf}")
    axe_clean(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    assert (request.status, seen) == ("requested", [])
