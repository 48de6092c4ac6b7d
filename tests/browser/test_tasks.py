"""The task pages in a real browser: live, by keyboard, at 360 px, in both themes, without scripts."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

import tests.agents  # noqa: F401 - declares the agents
from tasks_app.models import Call, Task
from tasks_app.record.events import (
    ApprovalRequested,
    CallOutcome,
    CheckpointAdvanced,
    SignalReceived,
    SliceClaimed,
    SliceLost,
)
from tasks_app.record.late import late_keep
from tasks_app.status import CallState
from tests.browser.axe import axe_clean
from tests.browser.conftest import heard, live, painted
from tests.browser.task_pages import Opens, events, new_task, opened, rows, say
from tests.people import People, people_create
from tests.records import call_in, leased, task_set

THEMES = pytest.mark.parametrize("theme", ["light", "dark"])
NARROW = {"width": 360, "height": 740}
# Cells so narrow that a sentence in them is read letter by letter.
SPELT_OUT = """[...document.querySelectorAll("td:not(.pick)")]
    .filter((td) => td.innerText.length > 8 && td.clientWidth < 70 && td.clientHeight > 45).map((td) => td.innerText)"""


@pytest.fixture
def people(transactional_db: None) -> People:
    return people_create()


@pytest.fixture
def task(people: People) -> Task:
    return new_task(people, "Checkout requests queue for connections")


def eventful(people: People, task: Task) -> Task:
    """A record with everything that a timeline can show: a takeover, a late write, a doubt, an approval."""
    from tasks_app.record.append import Token

    task = leased(task)
    assert task.lease_nonce
    held = Token(epoch=1, nonce=task.lease_nonce)
    lost = SliceLost(
        lost_epoch=1, worker="w-3", seen="process gone", place="pay", losses=1, counted=True, exit_status="signal 9"
    )
    claimed = SliceClaimed(worker="w-5", nonce="n", host="h", pid=1, place="pay")
    odd = CallOutcome(name="read", attempt=1, outcome="ok", result={"big": "x" * 9000, "odd": "a\x00b\u202ec"})
    nonce = "00000000-0000-0000-0000-000000000002"
    task_set(task, lost, claimed, odd, lease_epoch=2, lease_nonce=nonce)
    late_keep(stream=task.pk, events=[CheckpointAdvanced(step=1)], actor="worker:w-3", token=held)
    call_in(task, "pay", CallState.IN_DOUBT, deadline=-30.0)
    call_in(task, "change", CallState.ASKED)
    asked = ApprovalRequested(
        approval=str(task.pk), name="change", digest="d", group="approvers", line="pool from 20 to 40", policy={}
    )
    parked = {"status": "in_doubt", "lease_holder": "", "lease_nonce": None, "lease_until": None, "wake_at": None}
    return task_set(task, asked, **parked)


@THEMES
def test_every_page_is_clean_for_axe_and_fits_360_px(people: People, task: Task, signed_in: Opens, theme: Any):
    task = eventful(people, task)
    context = signed_in(people.rhea, color_scheme=theme, viewport=NARROW)
    of_task = f"/tasks/{task.pk}/"
    addresses = ["/tasks/", "/tasks/?text=nothing", of_task, f"{of_task}?event=6", f"{of_task}?tab=input"]
    addresses += [f"{of_task}?tab=brief&at=3", f"{of_task}?tab=record", f"{of_task}calls/pay/settle/"]
    for address in [*addresses, "/tasks/start/?agent=test.note"]:
        page, seen = opened(context, address)
        axe_clean(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, address
        assert page.evaluate(SPELT_OUT) == [], address
        assert seen == [], address
        page.close()


def test_an_open_action_is_clean_for_axe_and_says_what_it_does(people: People, task: Task, signed_in: Opens):
    page, seen = opened(signed_in(people.rhea), f"/tasks/{task.pk}/")
    page.locator("#act-cancel summary").click()
    expect(page.locator("#act-cancel")).to_contain_text("It cannot be undone")
    axe_clean(page)
    page.locator("#act-resume summary").click()
    expect(page.locator("#act-resume")).to_contain_text("Not possible now")
    assert seen == []


def test_the_timeline_grows_and_the_head_follows_without_a_reload(people: People, task: Task, signed_in: Opens):
    page, seen = opened(signed_in(people.rhea), f"/tasks/{task.pk}/")
    live(page)
    page.evaluate("window.marked = true")
    say(task, SignalReceived(name="one"))
    expect(page.locator("#event-2")).to_contain_text("sent the signal one")
    say(task, SliceLost(lost_epoch=7, worker="w-3", seen="process gone", place="a", losses=1, counted=True))
    say(task, SliceClaimed(worker="w-5", nonce="n", host="h", pid=1, place="a"))
    expect(page.locator("#event-4")).to_contain_text("Worker changed: w-3 lost its lease (no. 7), w-5 continued at 4")
    say(task, CheckpointAdvanced(step=1), status="paused", wake_at=None)
    expect(page.locator("#task-status")).to_contain_text("Paused")
    expect(page.locator("#act-resume summary")).not_to_have_attribute("aria-disabled", "true")
    assert rows(page) == events(5)
    expect(page.locator("#record-count")).to_have_text("5")
    expect(page.locator("[data-tail-more]")).to_be_hidden()  # all of it is in view
    assert page.evaluate("window.marked")
    assert seen == []


def test_on_a_phone_the_tab_precedes_the_facts_and_its_end_is_followed(people: People, task: Task, signed_in: Opens):
    say(task, *(SignalReceived(name=f"s{number}") for number in range(60)))
    page, seen = opened(signed_in(people.rhea, viewport=NARROW), f"/tasks/{task.pk}/")
    live(page)
    assert page.evaluate("document.querySelector('.tabs').offsetTop < document.querySelector('#facts-head').offsetTop")
    page.evaluate("document.querySelector('#timeline').scrollIntoView({ block: 'end' })")
    painted(page)
    say(task, SignalReceived(name="one"))
    expect(page.locator("#event-62")).to_be_in_viewport()
    page.get_by_role("heading", name="Calls").scroll_into_view_if_needed()
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    painted(page)
    say(task, SignalReceived(name="two"))
    expect(page.locator("#event-63")).to_be_attached()
    expect(page.get_by_role("heading", name="Calls")).to_be_in_viewport()  # who reads below is not moved
    assert seen == []


def test_the_record_unfolds_an_event_whole_also_on_a_phone(people: People, task: Task, signed_in: Opens):
    page, seen = opened(signed_in(people.rhea, viewport=NARROW), f"/tasks/{task.pk}/?tab=record")
    page.locator(".record summary").first.click()
    expect(page.locator(".record pre").first).to_contain_text("Raise the pool")
    axe_clean(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    expect(page.locator(".tabs [aria-current]")).to_be_in_viewport()
    assert seen == []


def test_a_late_write_that_the_page_has_is_not_doubled(people: People, task: Task, signed_in: Opens):
    from tasks_app.record.append import Token

    gone = Token(epoch=7, nonce=task.pk)
    late_keep(stream=task.pk, events=[CheckpointAdvanced(step=1)], actor="worker:w-3", token=gone)
    page, seen = opened(signed_in(people.rhea), f"/tasks/{task.pk}/")
    live(page)
    say(task, SignalReceived(name="one"))
    expect(page.locator("#event-2")).to_be_attached()
    assert page.locator("#timeline > .late").count() == 1
    assert seen == []


def test_a_reason_that_is_being_typed_outlives_what_comes_in(people: People, task: Task, signed_in: Opens):
    page, _ = opened(signed_in(people.rhea), f"/tasks/{task.pk}/")
    live(page)
    page.locator("#act-pause summary").click()
    page.locator("#pause-reason").press_sequentially("until the sale")
    say(task, CheckpointAdvanced(step=1), status="paused", wake_at=None)
    expect(page.locator("#task-status")).to_contain_text("Paused")
    page.keyboard.type(" is over")
    expect(page.locator("#pause-reason")).to_have_value("until the sale is over")


def test_case_24_the_browser_takes_every_frame_that_a_tool_could_spoil(people: People, task: Task, signed_in: Opens):
    page, seen = opened(signed_in(people.rhea), f"/tasks/{task.pk}/")
    live(page)
    odd = ["W\x00s\x00l", {"m": float("nan")}, "ok \ud83d", b"\xff\xfe", "\\u0000", 10**400, {"i": 2**53 + 1}]
    for number, result in enumerate(odd, start=2):
        say(task, CallOutcome(name="c", attempt=1, outcome="unknown", result=result, error={"reason": result}))
        expect(page.locator(f"#event-{number}")).to_be_attached()
    assert rows(page) == events(8)
    live(page)
    assert seen == []


def test_a_list_changes_in_place_and_newcomers_wait(people: People, task: Task, signed_in: Opens):
    page, seen = opened(signed_in(people.rhea), "/tasks/")
    live(page)
    say(task, CheckpointAdvanced(step=1), status="paused", wake_at=None)
    expect(page.locator(f"#row-{task.pk}")).to_contain_text("Paused")
    newer = new_task(people, "Mail backlog grows")
    say(newer, SignalReceived(name="x"))
    more = page.get_by_role("link", name="Show 1 new")
    expect(more).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(1)
    more.click()
    expect(page.locator("tbody tr")).to_have_count(2)
    assert seen == []


def test_the_keyboard_alone_filters_opens_an_event_acts_and_comes_back(people: People, task: Task, signed_in: Opens):
    new_task(people, "Another")
    page, seen = opened(signed_in(people.rhea), "/tasks/")
    page.keyboard.press("/")
    page.keyboard.type("checkout")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("text=checkout"))
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(str(task.pk)))
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator(".detail")).to_contain_text("task.created")
    heard(page)
    page.keyboard.press("Escape")
    expect(page.locator(".detail")).to_have_count(0)
    page.locator("#act-pause summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("a break")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The task is paused.")).to_be_visible()
    heard(page)
    page.keyboard.press("g")
    page.keyboard.press("s")
    page.wait_for_url(re.compile("/tasks/start/"))
    assert seen == []


def test_without_scripts_a_task_is_started_watched_paused_and_settled(people: People, task: Task, signed_in: Opens):
    eventful(people, task)
    context = signed_in(people.rhea, java_script_enabled=False)
    page = context.new_page()
    page.goto("/tasks/start/?agent=test.note")
    page.get_by_label("Text").fill("hello")
    page.get_by_role("button", name="Start the task").click()
    expect(page.get_by_text("The task is started.")).to_be_visible()
    page.locator("#act-pause summary").click()
    page.locator("#pause-reason").fill("a break")
    page.locator("#act-pause button").click()
    expect(page.get_by_text("Paused by rhea")).to_be_visible()
    page.goto(f"/tasks/{task.pk}/")
    page.get_by_role("link", name="Record what happened").first.click()
    page.get_by_label("It happened").check()
    page.get_by_label("Outside reference").fill("P-1")
    page.get_by_label("What you saw, and where").fill("the bank's list of today")
    page.get_by_role("button", name="Record it").click()
    expect(page.get_by_text("Recorded.")).to_be_visible()
    assert Call.objects.get(task=task, name="pay").state == "happened"


def test_a_double_click_starts_one_task(people: People, signed_in: Opens):
    page, _ = opened(signed_in(people.rhea), "/tasks/start/?agent=test.note")
    page.get_by_label("Text").fill("hello")
    page.get_by_role("button", name="Start the task").dblclick()
    expect(page.get_by_text("The task is started.")).to_be_visible()
    assert Task.objects.count() == 1
