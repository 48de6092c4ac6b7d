"""Calls in doubt on the desk, in a real browser."""

import pytest
from playwright.sync_api import expect

from core.hints import live_hint
from tasks_app.models import Call, Task
from tasks_app.services.settle import call_settle
from tests.browser.axe import axe_clean
from tests.browser.conftest import live
from tests.browser.test_desk_more import NARROW, Opens, at, doubt
from tests.desk import Desk, desk_create


@pytest.fixture
def desk(transactional_db: None) -> Desk:
    return desk_create()


@pytest.mark.parametrize("scripts", [True, False])
def test_a_call_in_doubt_is_found_on_the_desk_and_settled(desk: Desk, signed_in: Opens, scripts: bool):
    call = doubt(desk)
    page, seen = at(signed_in(desk.silas, viewport=NARROW, java_script_enabled=scripts), "/approvals/?shelf=doubt")
    page.get_by_role("link", name="What happened to pay/1?").click()
    if scripts:
        axe_clean(page)
    page.get_by_label("It happened").check()
    page.get_by_label("Outside reference").fill("P-7")
    page.get_by_label("What you saw, and where").fill("it is in the bank")
    page.get_by_role("button", name="Record it").click()
    expect(page.get_by_text("Recorded. The task goes on")).to_be_visible()
    page.goto(f"/tasks/{call.task_id}/calls/pay/1/settle/")
    expect(page.get_by_text("has recorded “It happened”")).to_be_visible()
    assert (Call.objects.get(pk=call.pk).state, seen) == ("happened", [])


def test_a_doubt_that_somebody_settles_closes_the_open_card_and_keeps_what_was_written(desk: Desk, signed_in: Opens):
    call = doubt(desk)
    page, seen = at(signed_in(desk.silas), f"/tasks/{call.task_id}/calls/pay/1/settle/")
    live(page)
    page.get_by_label("What you saw, and where").fill("half a sen")
    call_settle(
        workspace=desk.workspace,
        task=call.task_id,
        name="pay/1",
        actor="person:rhea",
        answer="unknown",
        evidence="asked the bank",
    )
    head = Task.objects.values_list("head_seq", flat=True).get(pk=call.task_id)
    live_hint(stream=call.task_id, workspace=desk.workspace.pk, seq=head)
    expect(page.get_by_text("has recorded “Unknown, go on”")).to_be_visible()
    expect(page.get_by_role("button", name="Record it")).to_have_count(0)
    expect(page.get_by_label("What you saw, and where")).to_have_value("half a sen")
    axe_clean(page)
    assert seen == []
