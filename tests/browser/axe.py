"""Accessibility rules, checked by axe-core in the page."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


def axe_clean(page: Page) -> None:
    """Fail with what axe found, if anything."""
    found = Axe().run(page, options=RULES | {"resultTypes": ["violations"]}).response["violations"]
    told = [(rule["id"], [node["html"][:300] for node in rule["nodes"]]) for rule in found]
    assert told == [], told
