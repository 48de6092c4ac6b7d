"""The keyboard reaches everything, and single keys never get in the way."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

# Counts how often a row gets the focus.
WALKS = """globalThis.walks = 0;
    addEventListener("focusin", (event) => { walks += event.target.matches("[data-row-link]"); })"""


@pytest.fixture
def style(operator: Any, signed_in: Any) -> Page:
    page = signed_in(operator).new_page()
    page.goto("/style/")
    return page


def row(page: Page, index: int) -> Locator:
    return page.locator("[data-row-link]").nth(index)


def test_j_and_k_walk_the_rows_and_enter_opens(style: Page) -> None:
    style.keyboard.press("j")
    expect(row(style, 0)).to_be_focused()
    style.keyboard.press("j")
    style.keyboard.press("j")
    style.keyboard.press("k")
    expect(row(style, 1)).to_be_focused()
    style.keyboard.press("Enter")
    expect(style).to_have_url(re.compile("#row-.*0001"))


def test_the_walk_stops_at_both_ends(style: Page) -> None:
    rows = style.locator("[data-row-link]").count()
    for _ in range(rows + 4):
        style.keyboard.press("j")
    expect(row(style, rows - 1)).to_be_focused()
    for _ in range(rows + 4):
        style.keyboard.press("k")
    expect(row(style, 0)).to_be_focused()


def test_slash_goes_to_the_filter_and_escape_leaves_it(style: Page) -> None:
    style.keyboard.press("/")
    expect(style.locator("[data-filter]")).to_be_focused()
    style.keyboard.press("Escape")
    expect(style.locator("[data-filter]")).not_to_be_focused()


def test_g_and_a_letter_go_to_a_page(style: Page) -> None:
    style.keyboard.press("g")
    style.keyboard.press("e")
    expect(style).to_have_url(re.compile("/effects/$"))


def test_keys_typed_into_a_field_stay_text(style: Page) -> None:
    style.locator("[data-filter]").click()
    style.keyboard.type("?jgupk/")
    expect(style.locator("[data-filter]")).to_have_value("?jgupk/")
    expect(style.get_by_role("dialog")).to_have_count(0)


def test_the_sheet_opens_closes_and_gives_the_focus_back(style: Page) -> None:
    style.keyboard.press("j")
    style.keyboard.press("?")
    expect(style.get_by_role("dialog", name="Keys")).to_be_visible()
    style.keyboard.press("Escape")
    expect(style.get_by_role("dialog")).to_have_count(0)
    expect(row(style, 0)).to_be_focused()


def test_single_keys_can_be_switched_off_for_good(style: Page) -> None:
    style.keyboard.press("?")
    style.get_by_label("Single keys act").uncheck()
    style.keyboard.press("Escape")
    style.reload()
    style.evaluate(WALKS)
    style.keyboard.press("j")
    style.locator(".bar .menu summary").click()
    style.get_by_role("button", name="Keyboard shortcuts").click()
    expect(style.get_by_label("Single keys act")).not_to_be_checked()
    assert style.evaluate("walks") == 0  # by now it would have gone there
    style.get_by_label("Single keys act").check()
    style.keyboard.press("Escape")
    style.keyboard.press("j")
    expect(row(style, 0)).to_be_focused()
    assert style.evaluate("walks") == 1


def test_u_shows_absolute_times_and_keeps_doing_so(style: Page) -> None:
    times = style.locator(".rows time").first
    expect(times).to_contain_text("ago")
    style.keyboard.press("u")
    expect(times).to_contain_text("UTC")
    style.reload()
    expect(times).to_contain_text("UTC")
    style.keyboard.press("u")
    expect(times).to_contain_text("ago")


def test_escape_closes_the_account_menu_and_keeps_the_focus_there(style: Page) -> None:
    summary = style.locator(".bar .menu summary")
    summary.click()
    style.keyboard.press("Tab")
    style.keyboard.press("Escape")
    expect(style.locator(".bar .menu")).not_to_have_attribute("open", "")
    expect(summary).to_be_focused()


def test_modifiers_leave_the_browsers_own_keys_alone(style: Page) -> None:
    style.keyboard.press("Control+j")
    style.keyboard.press("j")
    expect(row(style, 0)).to_be_focused()  # by the second alone
