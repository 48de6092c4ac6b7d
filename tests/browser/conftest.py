"""Browser tests: Debian's Chromium against a real server process that reads this test's database."""

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.chromium import CHROMIUM, LEFT_OUT
from tests.conftest import database_url
from tests.serving import serving

BASE = Path(__file__).resolve().parents[2]
expect.set_options(timeout=30_000)  # as long as an action may take: a slow machine is no failure


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the browser tests out where there is no browser; the run's last lines say so."""
    if CHROMIUM is None:
        for item in items:
            if BASE / "tests" / "browser" in item.path.parents:
                item.add_marker(pytest.mark.skip(reason=LEFT_OUT))


@pytest.fixture(scope="session", autouse=True)
def _orm_beside_playwright() -> Iterator[None]:
    # Playwright's synchronous interface runs a loop in this thread, which Django takes for an async caller.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        yield


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Take the system's Chromium and keep it off the network."""
    quiet = ["--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run"]
    root = ["--no-sandbox"] if os.geteuid() == 0 else []
    return {**browser_type_launch_args, "executable_path": CHROMIUM, "args": [*quiet, *root]}


@pytest.fixture(scope="session")
def web_environment(django_db_setup: None) -> dict[str, str]:
    """Return the environment of web processes that serve all browser tests of this run, one database's worth."""
    return os.environ | {
        "DJANGO_SETTINGS_MODULE": "core.settings",
        "DATABASE_URL": database_url(connection.settings_dict),
        "REDIS_URL": django_settings.REDIS_URL,
        "CELERY_BROKER_URL": django_settings.CELERY_BROKER_URL,
        "HANDRAIL_STYLE_PAGE": "1",
        "HANDRAIL_MODULES": "tests.agents,tests.desk",
    }


@pytest.fixture(scope="session")
def web(web_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start the web process on a free port and return its address."""
    with serving(web_environment, tmp_path_factory.mktemp("web")) as address:
        yield address


@pytest.fixture
def server(web: str, transactional_db: None) -> str:
    """Return the address of the web process, for a test whose committed rows it shows."""
    return web


@pytest.fixture
def operator(transactional_db: None) -> Any:
    """Return a person who may sign in."""
    return get_user_model().objects.create_user("olivia", password="correct horse battery")  # type: ignore[attr-defined]


@pytest.fixture
def signed_in(browser: Browser, server: str) -> Iterator[Callable[..., BrowserContext]]:
    """Return a function that opens a browser context in which a user is signed in."""
    with contextlib.ExitStack() as stack:

        def open_context(user: Any, **options: Any) -> BrowserContext:
            context = browser.new_context(base_url=server, **options)
            stack.callback(context.close)
            context.add_cookies([{"name": django_settings.SESSION_COOKIE_NAME, "value": _session(user), "url": server}])
            return context

        yield open_context


def _session(user: Any) -> str:
    client = Client()
    client.force_login(user)
    return client.cookies[django_settings.SESSION_COOKIE_NAME].value


@pytest.fixture
def violations(page: Page) -> Iterator[list[str]]:
    """Collect what the content security policy refused and every script error; the test fails if there is any."""
    seen: list[str] = []
    listen(page, seen)
    yield seen
    assert seen == []


def heard(page: Page) -> Page:
    """Wait until the scripts of the page that is shown hear keys and clicks: its text is there before they are."""
    page.wait_for_load_state("load")
    return page


def painted(page: Page) -> None:
    """Wait until the page was painted: only then its scripts are told that it was scrolled."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def live(page: Page) -> None:
    """Wait until the page, or its frame, is told of what happens from now on."""
    expect(page.locator("#live")).to_have_attribute("data-state", "live")


def listen(page: Page, seen: list[str]) -> None:
    """Write console errors and uncaught exceptions of a page into ``seen``."""
    page.on("console", lambda message: seen.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: seen.append(str(error)))
