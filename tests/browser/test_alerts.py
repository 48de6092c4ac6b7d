"""Alerts and deliveries in a real browser: accessible in both themes, narrow, and without scripts."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, expect

from approvals_app.notify.models import Alert, Channel, Delivery
from approvals_app.notify.services.alerts import alerts_watch
from core.clock import database_now
from tasks_app.models import Status, Task
from tests.browser.axe import axe_clean
from tests.browser.conftest import listen, live
from tests.channels import nobody_missed
from tests.desk import Desk, desk_create, task_create

Opens = Callable[..., BrowserContext]


@pytest.fixture
def desk(transactional_db: None) -> Desk:
    made = desk_create()
    now = database_now()
    moments = {"seen_at": now, "raised_at": now}
    Alert.objects.create(rule="no-worker", key="all", title="No worker lives", todo="Start one.", **moments)
    Alert.objects.create(
        rule="stopped", key="1", workspace=made.workspace, title="Stopped", address="/tasks/", cleared_at=now, **moments
    )
    hook = Channel.objects.create(workspace=made.workspace, name="pager", kind="webhook")
    body = {"data": {"title": "Approval needed: desk.pay of desk.agent", "text": "", "link": "/approvals/"}}
    for number, state in enumerate(("waiting", "sent", "quiet", "dead")):
        Delivery.objects.create(
            workspace=made.workspace,
            channel=hook,
            kind="approval.requested",
            subject=f"00000000-0000-7000-8000-00000000000{number}",
            body=body,
            state=state,
            made_at=now,
            due_at=now,
            log=[{"at": now.isoformat(), "said": "the receiver answered 500"}],
        )
    return made


@pytest.mark.parametrize("address", ["/alerts/", "/alerts/deliveries/", "/alerts/deliveries/?state=quiet"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_the_pages_are_accessible_and_no_wider_than_the_screen(
    desk: Desk, signed_in: Opens, address: str, scheme: str, width: int
):
    page, seen = signed_in(desk.silas, color_scheme=scheme, viewport={"width": width, "height": 740}).new_page(), []
    listen(page, seen)
    page.goto(address)
    axe_clean(page)
    assert page.locator("html").evaluate("element => element.scrollWidth") <= width
    assert seen == []


def test_what_was_given_up_is_sent_again_by_keyboard_and_without_scripts(desk: Desk, signed_in: Opens):
    page = signed_in(desk.silas, java_script_enabled=False).new_page()
    page.goto("/alerts/")
    page.get_by_role("link", name="Deliveries").focus()
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Given up 1").click()
    page.get_by_role("button", name="Send again").focus()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_contain_text("on its way again")
    assert Delivery.objects.filter(state="dead").count() == 0


def test_on_a_wide_screen_what_can_be_done_about_a_delivery_is_in_view(desk: Desk, signed_in: Opens):
    Delivery.objects.filter(state="dead").update(
        body={"data": {"title": "Approval needed: " + "a long line of a call " * 6, "text": "", "link": "/approvals/"}},
        log=[
            {"at": "2026-01-01T00:00:00+00:00", "said": "the receiver answered 500: " + "upstream connect error " * 5}
        ],
    )
    page = signed_in(desk.silas, viewport={"width": 1280, "height": 800}).new_page()
    page.goto("/alerts/deliveries/")
    table = page.get_by_role("region", name="Table of deliveries")
    assert table.evaluate("one => one.scrollWidth <= one.clientWidth")
    expect(page.get_by_role("button", name="Send again").first).to_be_in_viewport(ratio=1)


def test_what_is_raised_and_what_is_over_come_to_the_page_and_to_every_navigation(desk: Desk, signed_in: Opens):
    Alert.objects.all().delete()
    nobody_missed()
    alerts_watch()
    tasks = [task_create(desk, title=f"Task {number}") for number in range(2)]
    Task.objects.filter(pk=tasks[0].pk).update(status=Status.QUARANTINED)
    alerts_watch()
    seen = list[str]()
    context = signed_in(desk.silas)
    page, elsewhere = context.new_page(), context.new_page()
    for one in (page, elsewhere):
        listen(one, seen)
    page.goto("/alerts/")
    elsewhere.goto("/tools/")
    place = "nav.places a[href='/alerts/'] .count"
    for one in (page, elsewhere):
        live(one)
    expect(page.locator("main tbody .status")).to_have_text("Stands")
    expect(elsewhere.locator(place)).to_have_text("1 standing")
    link = page.locator("main tbody a").first
    link.focus()

    Task.objects.filter(pk=tasks[1].pk).update(status=Status.QUARANTINED)
    alerts_watch()
    expect(page.get_by_role("link", name="Show 1 new")).to_be_visible()
    expect(page.locator(place)).to_have_text("2 standing")
    expect(elsewhere.locator(place)).to_have_text("2 standing")
    expect(page.locator("main tbody tr")).to_have_count(1)

    Task.objects.filter(pk=tasks[0].pk).update(status=Status.QUEUED)
    alerts_watch()
    expect(page.locator("main tbody .status")).to_have_text("Over")
    expect(elsewhere.locator(place)).to_have_text("1 standing")
    expect(link).to_be_focused()
    axe_clean(page)
    page.get_by_role("link", name="Show 1 new").click()
    expect(page.locator("main tbody .status")).to_have_text("Stands")
    assert seen == []
