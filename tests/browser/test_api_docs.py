"""The API's own page works under the strict content security policy, served from here alone."""

from typing import Any

from playwright.sync_api import expect

from tests.browser.conftest import listen


def test_the_documentation_page_shows_the_routes_without_breaking_the_policy(
    server: str, operator: Any, signed_in: Any
) -> None:
    page = signed_in(operator).new_page()
    broken: list[str] = []
    asked: list[str] = []
    listen(page, broken)
    page.on("request", lambda request: asked.append(request.url))
    page.goto("/api/v1/docs")
    expect(page.get_by_text("resume-brief").first).to_be_visible()
    assert broken == []
    assert all(url.startswith((server, "data:", "blob:")) for url in asked)
