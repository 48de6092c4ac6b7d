"""The frame of every page: readable by all, in both themes, on narrow screens, with and without scripts."""

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.axe import axe_clean
from tests.browser.conftest import listen

THEMES = pytest.mark.parametrize("theme", ["light", "dark"])
WIDTHS = pytest.mark.parametrize("width", [1280, 320])


@pytest.fixture
def seen() -> list[str]:
    return []


@pytest.fixture
def style(operator: Any, signed_in: Any, seen: list[str]) -> Page:
    page = signed_in(operator, viewport={"width": 1280, "height": 850}).new_page()
    listen(page, seen)
    page.goto("/style/")
    return page


@THEMES
@WIDTHS
@pytest.mark.parametrize("path", ["/style/", "/nothing-here/"])
def test_a_page_has_no_accessibility_fault(operator: Any, signed_in: Any, theme: str, width: int, path: str) -> None:
    page = signed_in(operator, color_scheme=theme, viewport={"width": width, "height": 850}).new_page()
    page.goto(path)
    axe_clean(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@THEMES
@pytest.mark.parametrize("path", ["/sign-in/", "/sign-in/once/no-such-token/"])
def test_the_doors_have_no_accessibility_fault(browser: Browser, server: str, theme: str, path: str) -> None:
    context = browser.new_context(base_url=server, color_scheme=theme, viewport={"width": 320, "height": 600})  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(path)
    axe_clean(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    context.close()


def test_the_account_menu_and_the_sheet_of_keys_have_no_accessibility_fault(style: Page) -> None:
    style.locator(".bar .menu summary").click()
    axe_clean(style)
    style.get_by_role("button", name="Keyboard shortcuts").click()
    expect(style.get_by_role("dialog", name="Keys")).to_be_visible()
    axe_clean(style)


def test_no_page_breaks_the_content_security_policy(style: Page, seen: list[str]) -> None:
    style.keyboard.press("?")
    style.keyboard.press("Escape")
    style.keyboard.press("u")
    style.locator(".copy").first.click()
    expect(style.locator("#announcer")).not_to_be_empty()
    with style.expect_console_message(lambda message: message.text == "the last"):
        style.evaluate("console.error('the last')")
    assert seen == ["the last"]


def test_the_policy_forbids_everything_that_is_not_our_own(style: Page) -> None:
    policy = style.goto("/style/").headers["content-security-policy"]  # type: ignore[union-attr]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "style-src 'self'" in policy


@pytest.fixture
def without_scripts(operator: Any, signed_in: Any) -> BrowserContext:
    return signed_in(operator, java_script_enabled=False)


def test_a_page_is_whole_without_scripts(without_scripts: BrowserContext) -> None:
    page = without_scripts.new_page()
    page.goto("/style/")
    expect(page.locator("#live-indicator")).to_contain_text(re.compile(r"As of\s+\d\d:\d\d:\d\d"))
    expect(page.get_by_text("\\u202e", exact=True)).to_be_visible()
    expect(page.locator(".copy").first).to_be_hidden()
    expect(page.locator("[data-live-pause]")).to_be_hidden()


def test_colours_can_be_chosen_without_scripts(without_scripts: BrowserContext) -> None:
    page = without_scripts.new_page()
    page.goto("/style/")
    page.locator(".bar .menu summary").click()
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("body")).to_have_css("background-color", "rgb(16, 19, 22)")
    expect(page).to_have_url(re.compile("/style/$"))
    page.locator(".bar .menu summary").click()
    expect(page.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")


def test_the_first_stop_of_the_keyboard_leads_to_the_content(style: Page) -> None:
    style.keyboard.press("Tab")
    expect(style.get_by_role("link", name="Skip to the content")).to_be_focused()
    style.keyboard.press("Enter")
    expect(style.locator("main")).to_be_focused()


def test_invisible_characters_of_an_agent_are_shown_and_its_markup_is_inert(style: Page) -> None:
    said = style.locator(".agent").first
    expect(said).to_contain_text("<script>alert('never run')</script>")
    assert said.locator(".escape").all_inner_texts() == ["\\u200b\\u2066", "\\u2069"]
    assert style.locator(".arguments .escape").all_inner_texts() == ["\\u202e", "\\u200b"]


def test_an_id_can_be_copied_whole(style: Page) -> None:
    style.context.grant_permissions(["clipboard-read", "clipboard-write"])
    style.locator(".rows .copy").first.click()
    expect(style.locator("#announcer")).to_have_text("Copied.")
    assert style.evaluate("navigator.clipboard.readText()") == "0193a7c2-5e1f-7c3a-9d0e-00008b2c4f71"
