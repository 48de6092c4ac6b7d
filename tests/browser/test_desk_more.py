"""Edits, several at once, a runaway stopped, grants, rules, large arguments, calls in doubt: in a real browser."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from approvals_app.models import ApprovalRequest, StandingGrant
from approvals_app.services.grants import grant_create
from core.clock import database_now
from tasks_app.models import Call, StopSwitch
from tasks_app.services.stops import stop_set
from tasks_app.status import CallState
from tests.browser.axe import axe_clean
from tests.browser.conftest import listen, live
from tests.desk import CLEAN, MOVE, PAY, WALLED, Desk, as_person, decide, desk_create, parked, rule
from tests.records import call_in, new_task, task_set

Opens = Callable[..., BrowserContext]
WIDE = {"width": 1280, "height": 800}
NARROW = {"width": 360, "height": 740}
SIZES = pytest.mark.parametrize("size", [WIDE, NARROW])
THEMES = pytest.mark.parametrize("theme", ["light", "dark"])


@pytest.fixture
def desk(transactional_db: None) -> Desk:
    return desk_create()


def at(context: BrowserContext, address: str) -> tuple[Page, list[str]]:
    page = context.new_page()
    seen: list[str] = []
    listen(page, seen)
    page.goto(address)
    return page, seen


def status_of(request: ApprovalRequest) -> str:
    return ApprovalRequest.objects.get(pk=request.pk).status


def doubt(desk: Desk, **more: Any) -> Call:
    task = new_task(desk.workspace, desk.owen, title="Pay the vendor credit")
    call = call_in(task, "pay/1", CallState.IN_DOUBT, **more)
    task_set(task, status="in_doubt", wake_at=None, wait={"kind": "signal", "on": ["pay/1"]})
    return call


@pytest.mark.parametrize("scripts", [True, False])
def test_an_edit_becomes_a_new_call_for_somebody_else_and_the_old_card_leads_to_it(
    desk: Desk, signed_in: Opens, scripts: bool
):
    request = parked(desk, MOVE, name="move", arguments={"amount": "400", "to": "acme"})
    page, seen = at(signed_in(desk.rhea, java_script_enabled=scripts), f"/approvals/{request.pk}/")
    page.get_by_role("link", name="Edit, then ask for that").click()
    expect(page.get_by_label("Amount")).to_have_value("400")
    expect(page.get_by_label("To")).to_have_count(0)
    if scripts:
        axe_clean(page)
    page.get_by_label("Amount").fill("300")
    page.get_by_label("Why you change it").fill("four hundred is too much")
    page.get_by_role("button", name="Ask for the edited call").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Move 300 to acme")
    expect(page.locator("del", has_text="400")).to_be_visible()
    expect(page.locator("ins", has_text="300")).to_be_visible()
    expect(page.locator(".card-send")).to_contain_text("You edited the arguments: somebody else has to decide.")
    page.goto(f"/approvals/{request.pk}/")
    page.get_by_role("link", name="Open the fresh card").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Move 300")
    assert (status_of(request), seen) == ("voided", [])


def test_an_old_card_that_is_open_leads_to_the_fresh_one_by_itself(desk: Desk, signed_in: Opens):
    from approvals_app.services.edit import approval_edit
    from approvals_app.status import Via

    request = parked(desk, MOVE, name="move", arguments={"amount": "400", "to": "acme"})
    page, seen = at(signed_in(desk.rhea), f"/approvals/{request.pk}/")
    live(page)
    approval_edit(
        approval=request.pk,
        principal=as_person(desk.silas, desk.workspace),
        arguments={"amount": "300"},
        reason="too much",
        digest=request.digest,
        via=Via.PAGE,
    )
    page.get_by_role("link", name="Open the fresh card").click()
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("You approved this call.")).to_be_visible()
    assert seen == []


def test_several_low_risk_calls_of_one_tool_are_approved_together_each_listed(desk: Desk, signed_in: Opens):
    made = [parked(desk, arguments={"path": f"/scratch/{number}"}) for number in range(3)]
    page, seen = at(signed_in(desk.rhea, viewport=WIDE), "/approvals/")
    expect(page.locator(".desk-picked")).to_be_hidden()
    for _ in range(3):
        page.keyboard.press("j")
        page.keyboard.press("x")
    page.get_by_role("button", name="Answer 3 together").click()
    for request in made:
        expect(page.get_by_role("heading", name=request.line)).to_be_visible()
    axe_clean(page)
    decide(made[1], desk.silas)
    page.get_by_role("button", name="Approve these 3").click()
    expect(page.get_by_text("2 of 3 answered by you just now.")).to_be_visible()
    expect(page.get_by_text("Already approved by silas").first).to_be_visible()
    axe_clean(page)
    assert ([status_of(one) for one in made], seen) == (["approved"] * 3, [])


def test_the_bar_for_the_selected_covers_no_row_while_none_is_and_without_scripts_stands_below_the_list(
    desk: Desk, signed_in: Opens
):
    for number in range(3):
        parked(desk, arguments={"path": f"/scratch/{number}"})
    page, seen = at(signed_in(desk.rhea, viewport=NARROW), "/approvals/")
    bar, box = page.locator(".desk-picked"), page.get_by_label("Select:").first
    expect(bar).to_be_hidden()
    box.check()
    expect(bar).to_have_css("position", "sticky")
    box.uncheck()
    expect(bar).to_be_hidden()
    plain, _ = at(signed_in(desk.rhea, viewport=NARROW, java_script_enabled=False), "/approvals/")
    expect(plain.locator(".desk-picked")).to_have_css("position", "static")
    plain.get_by_label("Select:").first.check()
    plain.get_by_role("button", name="Answer the selected together").click()
    expect(plain.get_by_role("heading", name="Answer 1 together")).to_be_visible()
    assert seen == []


def test_high_risk_and_other_tools_are_not_answered_together(desk: Desk, signed_in: Opens):
    low, high = parked(desk), parked(desk, PAY, name="pay")
    page, _ = at(signed_in(desk.rhea), f"/approvals/together/?id={low.pk}&id={high.pk}")
    expect(page.get_by_text("They are not of one tool and version")).to_be_visible()
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)
    page.goto(f"/approvals/together/?id={high.pk}")
    expect(page.get_by_text("Only calls of low risk are approved together")).to_be_visible()
    expect(page.get_by_role("button", name="Approve these")).to_have_count(0)
    expect(page.get_by_role("button", name="Deny these")).to_have_count(1)


def test_deny_all_and_pause_is_one_act_with_one_reason(desk: Desk, signed_in: Opens):
    made = [parked(desk, arguments={"path": f"/scratch/{number}"}) for number in range(5)]
    page, seen = at(signed_in(desk.rhea, viewport=WIDE), "/approvals/")
    page.locator(".desk-group [data-row-link]").click()
    page.get_by_text("Deny all of these and pause this agent").click()
    axe_clean(page)
    group = page.locator("section", has=page.get_by_role("heading", name="All that desk.agent asks"))
    group.get_by_label("Reason").fill("it has gone wild")
    group.get_by_role("button", name="Deny all and pause the agent").click()
    expect(page.get_by_text("5 denied. The agent desk.agent is stopped")).to_be_visible()
    assert {status_of(one) for one in made} == {"denied"}
    assert StopSwitch.objects.filter(scope="agent", name="desk.agent").exists()
    assert seen == []


def test_of_a_quorum_the_card_shows_who_has_answered_live(desk: Desk, signed_in: Opens):
    rule(desk, "two eyes", 'tool == "desk.clean"', quorum=2)
    request = parked(desk)
    page, seen = at(signed_in(desk.rhea), f"/approvals/{request.pk}/")
    live(page)
    expect(page.locator(".quorum")).to_contain_text("0 of 2")
    decide(request, desk.silas, reason="looked at it")
    expect(page.locator(".quorum")).to_contain_text("1 of 2")
    expect(page.locator(".quorum")).to_contain_text("looked at it")
    axe_clean(page)
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("You approved this call.")).to_be_visible()
    assert (status_of(request), seen) == ("approved", [])


@pytest.mark.parametrize("scripts", [True, False])
def test_arguments_of_3_mb_are_read_in_parts_to_the_end_and_only_then_approved(
    desk: Desk, signed_in: Opens, scripts: bool
):
    text = "<b>begin</b>" + "x" * 2_999_000 + "\u202eend"
    request = parked(desk, arguments={"path": text})
    page, seen = at(signed_in(desk.rhea, java_script_enabled=scripts), f"/approvals/{request.pk}/")
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)
    page.get_by_role("link", name="Read all, then approve").click()
    part = page.get_by_role("region", name="Arguments of the call, in part")  # the heading quotes the call as well
    expect(part.get_by_text("<b>begin</b>")).to_be_visible()
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)
    page.get_by_role("link", name="Part 2").click()
    count = page.get_by_text("Part 2 of").inner_text().split(" of ")[1].split(",")[0]
    page.goto(f"/approvals/{request.pk}/review/?part={count}")
    expect(page.locator(".escape", has_text="\\u202e")).to_be_visible()
    if scripts:
        axe_clean(page)
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("You approved this call.")).to_be_visible()
    assert (status_of(request), seen) == ("approved", [])


def test_a_grant_is_given_from_the_card_listed_and_revoked(desk: Desk, signed_in: Opens):
    request = parked(desk)
    page, seen = at(signed_in(desk.rhea), f"/approvals/{request.pk}/")
    page.get_by_role("link", name="Grant it for later too").click()
    page.get_by_label("Why").fill("each night")
    page.get_by_role("button", name="Grant it").click()
    expect(page.get_by_text("0 of 5 uses")).to_be_visible()
    page.get_by_label("Why it is revoked").fill("no more")
    page.get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("Over: the standing grant was revoked")).to_be_visible()
    axe_clean(page)
    assert StandingGrant.objects.get().revoked_reason == "no more"
    assert (status_of(request), seen) == ("requested", [])


def test_the_box_says_which_rule_would_decide(desk: Desk, signed_in: Opens):
    rule(desk, "large", 'tool == "desk.pay" && double(arguments.amount) > 1000.0', quorum=2)
    page, seen = at(signed_in(desk.vera), "/approvals/rules/")
    page.get_by_label("Tool").select_option("desk.pay")
    page.get_by_label("Arguments, as JSON").fill('{"amount": "5000", "to": "acme"}')
    page.get_by_role("button", name="Try it").click()
    expect(page.locator("#trial")).to_contain_text("Would ask 2 of approvers")
    expect(page.locator("#trial")).to_contain_text("Rule large, version 1, decides.")
    assert seen == []


@THEMES
@SIZES
def test_the_pages_beside_the_desk_are_clean_for_axe_and_fit(desk: Desk, signed_in: Opens, theme: Any, size: Any):
    rule(desk, "large", 'tool == "desk.pay" && double(arguments.amount) > 1000.0', quorum=2)
    long = parked(desk, CLEAN, arguments={"path": "/a/" + "long" * 60 + "\u202e"})
    decide(parked(desk), desk.rhea)
    call = doubt(desk, deadline=60.0, not_before=61.0)
    grant_create(
        approval=long.pk,
        principal=as_person(desk.rhea, desk.workspace),
        ends_at=database_now() + timedelta(hours=3),
        most_uses=2,
        reason="each night",
    )
    move = parked(desk, MOVE, name="move", arguments={"amount": "400", "to": "acme"})
    where = {"workspace": desk.workspace, "user": desk.rhea, "actor": "person:rhea"}
    stop_set(scope="agent", name="long" * 25 + "\u202e", reason="wild <b>" * 20, **where)
    addresses = [
        "/approvals/figures/",
        "/approvals/rules/?tool=desk.pay&arguments=%7B%22amount%22%3A%20%225000%22%7D",
        "/approvals/grants/",
        "/approvals/stops/",
        f"/approvals/{long.pk}/grant/",
        f"/approvals/{move.pk}/edit/",
        f"/approvals/together/?id={long.pk}",
        f"/approvals/{long.pk}/review/",
        f"/approvals/{parked(desk, WALLED).pk}/",
        f"/tasks/{call.task_id}/calls/pay/1/settle/",
        "/approvals/?shelf=doubt",
        "/approvals/?shelf=team&agent=desk.agent&tool=desk.clean&rule=contract",
    ]
    page, seen = at(signed_in(desk.rhea, color_scheme=theme, viewport=size), addresses[0])
    for address in addresses:
        page.goto(address)
        axe_clean(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], address
    assert seen == []
