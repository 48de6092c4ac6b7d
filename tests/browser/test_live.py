"""A page follows the record over its socket: nothing twice, nothing left out, nothing typed is lost."""

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import listen, serving


@dataclass
class Site:
    """The sample site, as the test commands it."""

    address: str

    def order(self, **what: Any) -> dict[str, Any]:
        return httpx.post(f"{self.address}/control/", json=what, timeout=30).raise_for_status().json()

    def push(self, **message: Any) -> None:
        self.order(push=json.dumps(message))

    def add(self, *seqs: int, **more: Any) -> None:
        items = "".join(f'<li id="event-{seq}"><span>came {seq}</span></li>' for seq in seqs)
        self.push(seq=seqs[-1], html=f'<ol hx-swap-oob="beforeend:#timeline">{items}</ol>', **more)

    def wait(self, ready: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        end = time.monotonic() + 30
        while time.monotonic() < end:
            state = self.order()
            if ready(state):
                return state
            time.sleep(0.05)
        raise AssertionError(f"The site never got there: {state}")

    def wait_resumes(self, count: int) -> list[Any]:
        return self.wait(lambda state: len(state["received"]) >= count)["received"]


@pytest.fixture(scope="module")
def sample_site(web_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    environment = web_environment | {"DJANGO_SETTINGS_MODULE": "tests.browser.sample.settings"}
    with serving(environment, tmp_path_factory.mktemp("site"), "tests.browser.sample.site:application") as address:
        yield Site(address)


@pytest.fixture
def site(sample_site: Site, transactional_db: None) -> Site:
    sample_site.order(reset=True)
    return sample_site


@pytest.fixture
def server(site: Site) -> str:
    return site.address


@pytest.fixture
def refused() -> list[str]:
    return []


@pytest.fixture
def tab(site: Site, operator: Any, signed_in: Any, refused: list[str]) -> Page:
    page = signed_in(operator, viewport={"width": 1000, "height": 700}).new_page()
    listen(page, refused)
    return page


@pytest.fixture
def live(site: Site, tab: Page) -> Page:
    """A page that is connected and up to date at event 5."""
    tab.goto("/sample/")
    site.wait_resumes(1)
    site.push(head=5)
    expect(indicator(tab)).to_contain_text("Live")
    return tab


def indicator(page: Page) -> Any:
    return page.locator("#live-indicator")


def shown(page: Page) -> list[str]:
    return page.locator("#timeline > li").evaluate_all("items => items.map((item) => item.id)")


def events(first: int, last: int) -> list[str]:
    return [f"event-{seq}" for seq in range(first, last + 1)]


def test_a_page_resumes_after_what_it_shows_and_says_when_it_has_caught_up(site: Site, tab: Page) -> None:
    tab.goto("/sample/")
    assert site.wait_resumes(1) == [{"type": "resume", "after": 5}]
    expect(indicator(tab)).to_contain_text("Catching up")
    site.add(6, 7, after=5)
    expect(indicator(tab)).to_contain_text("Catching up")
    site.push(head=7)
    expect(indicator(tab)).to_contain_text(re.compile(r"Live \d\d:\d\d:\d\d"))
    assert shown(tab) == events(1, 7)


@pytest.mark.parametrize("told", [True, False], ids=["cursor told", "cursor not told"])
def test_what_the_page_has_is_dropped(site: Site, live: Page, told: bool) -> None:
    for seq in (6, 6, 7):
        site.add(seq, **({"after": seq - 1} if told else {}))
    expect(live.locator("#event-7")).to_be_visible()
    assert shown(live) == events(1, 7)


def test_a_gap_is_not_shown_but_asked_for(site: Site, live: Page) -> None:
    site.add(8, 9, after=7)
    assert site.wait_resumes(2)[-1] == {"type": "resume", "after": 5}
    assert shown(live) == events(1, 5)
    site.add(6, 7, 8, 9, after=5)
    site.push(head=9)
    expect(live.locator("#event-9")).to_be_visible()
    assert shown(live) == events(1, 9)


def test_a_head_beyond_the_page_makes_it_ask(site: Site, live: Page) -> None:
    site.push(head=6)
    assert site.wait_resumes(2)[-1] == {"type": "resume", "after": 5}


def test_a_frame_that_is_no_json_makes_the_page_ask_again(site: Site, live: Page) -> None:
    site.order(push="{not json")
    assert site.wait_resumes(2)[-1] == {"type": "resume", "after": 5}


@pytest.mark.parametrize("code", [1000, 1001, 1011, 1012, 1013])
def test_a_lost_connection_is_resumed_after_what_came_before(site: Site, live: Page, code: int) -> None:
    site.add(6, after=5)
    expect(live.locator("#event-6")).to_be_visible()
    site.order(close=code)
    assert site.wait_resumes(2)[-1] == {"type": "resume", "after": 6}
    site.push(head=6)
    expect(indicator(live)).to_contain_text("Live")


def test_a_lasting_loss_is_said_and_taken_back(site: Site, live: Page) -> None:
    site.order(poll={"status": 500, "body": {}}, blocked=True, close=1012)
    expect(indicator(live)).to_contain_text("Offline")
    expect(live.get_by_role("alert")).to_contain_text("Tasks keep running")
    site.order(blocked=False)
    site.wait_resumes(2)
    site.push(head=5)
    expect(indicator(live)).to_contain_text("Live")
    expect(live.locator("#live-alert")).to_be_hidden()


def test_a_withdrawn_right_ends_the_updates_with_a_sentence(site: Site, live: Page) -> None:
    site.order(close=4403)
    expect(live.get_by_role("alert")).to_contain_text("You may no longer see this")
    expect(indicator(live)).to_contain_text("Offline")
    live.wait_for_timeout(2000)  # the longest first back-off is 250 ms
    assert site.order()["open"] == 0
    assert len(site.order()["received"]) == 1


def test_a_right_that_is_missing_at_connect_ends_them_too(site: Site, tab: Page) -> None:
    site.order(refuse_with=4403)
    tab.goto("/sample/")
    expect(tab.get_by_role("alert")).to_contain_text("You may no longer see this")


def test_where_sockets_are_blocked_the_page_polls(site: Site, tab: Page) -> None:
    html = '<ol hx-swap-oob="beforeend:#timeline"><li id="event-6">came 6</li></ol>'
    site.order(blocked=True, poll={"status": 200, "body": {"seq": 6, "after": 5, "html": html, "head": 6}})
    tab.goto("/sample/")
    expect(tab.locator("#event-6")).to_be_visible()
    expect(indicator(tab)).to_contain_text("Live")
    site.wait(lambda state: state["polled"][-1:] == ["6"])
    assert shown(tab) == events(1, 6)


def test_polling_ends_where_the_session_has(site: Site, tab: Page) -> None:
    site.order(blocked=True, poll={"status": 403, "body": {}})
    tab.goto("/sample/")
    expect(tab.get_by_role("alert")).to_contain_text("your session has ended")


def test_typed_text_and_focus_outlive_every_push(site: Site, live: Page) -> None:
    live.locator("#reason").press_sequentially("the pool is")
    site.push(seq=6, html='<form id="reason-form" hx-swap-oob="true"><input id="reason" value="other"></form>')
    site.add(7, after=6)
    expect(live.locator("#event-7")).to_be_visible()
    live.keyboard.type(" full")
    expect(live.locator("#reason")).to_have_value("the pool is full")
    expect(live.locator("#reason")).to_be_focused()
    live.locator("#reason").blur()
    site.push(seq=8, html='<form id="reason-form" hx-swap-oob="true"><input id="reason" value="other"></form>')
    site.push(seq=9, html='<h1 id="heading" hx-swap-oob="true">Later</h1>')
    expect(live.locator("#heading")).to_have_text("Later")
    expect(live.locator("#reason")).to_have_value("the pool is full")


def test_a_pause_holds_the_page_and_the_end_of_it_brings_all(site: Site, live: Page) -> None:
    live.keyboard.press("p")
    expect(indicator(live)).to_contain_text("Paused")
    site.add(6, after=5)
    site.push(head=6)
    expect(live.get_by_role("button", name="Continue")).to_have_attribute("aria-pressed", "true")
    assert shown(live) == events(1, 5)
    live.get_by_role("button", name="Continue").click()
    assert site.wait_resumes(2)[-1] == {"type": "resume", "after": 5}
    site.add(6, after=5)
    site.push(head=6)
    expect(indicator(live)).to_contain_text("Live")
    assert shown(live) == events(1, 6)


def test_a_page_over_many_tasks_keeps_no_cursor(site: Site, tab: Page) -> None:
    tab.goto("/sample/?many")
    assert site.wait_resumes(1) == [{"type": "resume"}]
    site.push(html='<h1 id="heading" hx-swap-oob="true">Later</h1>', head=0)
    expect(tab.locator("#heading")).to_have_text("Later")
    expect(indicator(tab)).to_contain_text("Live")


def test_a_reader_who_is_not_at_the_end_is_not_moved(site: Site, live: Page) -> None:
    site.add(*range(6, 60), after=5)
    expect(live.locator("#event-59")).to_be_attached()
    live.evaluate("scrollTo(0, 0)")
    site.add(*range(60, 64), after=59)
    more = live.get_by_role("button", name=re.compile("new"))
    expect(more).to_be_visible()
    assert live.evaluate("scrollY") == 0
    more.click()
    expect(live.locator("#event-63")).to_be_in_viewport()
    site.add(64, after=63)
    expect(live.locator("#event-64")).to_be_in_viewport()


def test_a_sentence_for_the_ear_is_said_politely(site: Site, live: Page) -> None:
    site.add(6, after=5, say="The task is completed.")
    expect(live.locator("#announcer")).to_have_text("The task is completed.")


def test_pushes_run_under_the_content_security_policy(site: Site, live: Page, refused: list[str]) -> None:
    site.add(6, after=5)
    site.push(seq=7, html='<h1 id="heading" hx-swap-oob="true">Later</h1>')
    expect(live.locator("#heading")).to_have_text("Later")
    assert refused == []


def test_a_script_in_a_fragment_never_runs(site: Site, live: Page) -> None:
    bad = '<img src="data:," onerror="document.title=1"><script>document.title=2</script>'
    site.push(seq=6, html=f'<h1 id="heading" hx-swap-oob="true">Later {bad}</h1>')
    expect(live.locator("#heading")).to_contain_text("Later")
    expect(live).to_have_title("Sample · Handrail")
