"""A tab that the browser has put to sleep: it hears nothing for a while, and misses nothing."""

import pytest
from playwright.sync_api import expect

import tests.agents  # noqa: F401 - declares the agents
from tasks_app.models import Task
from tasks_app.record.events import SignalReceived
from tests.browser.conftest import live
from tests.browser.task_pages import Opens, events, new_task, opened, rows, say
from tests.people import People, people_create


@pytest.fixture
def people(transactional_db: None) -> People:
    return people_create()


def test_a_tab_that_slept_has_every_event_once_when_it_is_looked_at_again(people: People, signed_in: Opens):
    task = new_task(people, "Checkout requests queue for connections")
    page, seen = opened(signed_in(people.rhea), f"/tasks/{task.pk}/")
    live(page)
    browser = page.context.new_cdp_session(page)
    browser.send("Page.setWebLifecycleState", {"state": "frozen"})
    for number in range(40):
        say(task, SignalReceived(name=f"signal-{number}"))
    browser.send("Page.setWebLifecycleState", {"state": "active"})
    expect(page.locator("#event-41")).to_be_attached()
    live(page)
    assert rows(page) == events(Task.objects.get(pk=task.pk).head_seq)
    say(task, SignalReceived(name="after"))
    expect(page.locator("#event-42")).to_be_attached()
    assert rows(page) == events(42)
    assert seen == []


def test_a_tab_that_slept_until_its_socket_was_gone_catches_up(people: People, signed_in: Opens):
    task = new_task(people, "Checkout requests queue for connections")
    context = signed_in(people.rhea)
    page, _ = opened(context, f"/tasks/{task.pk}/")
    live(page)
    browser = context.new_cdp_session(page)
    browser.send("Network.enable")
    browser.send("Page.setWebLifecycleState", {"state": "frozen"})
    context.set_offline(True)
    for number in range(20):
        say(task, SignalReceived(name=f"signal-{number}"))
    context.set_offline(False)
    browser.send("Page.setWebLifecycleState", {"state": "active"})
    expect(page.locator("#event-21")).to_be_attached(timeout=60_000)
    assert rows(page) == events(21)
