"""The page of stops follows what is set, what is lifted, and the attempts from before a stop (rule 14)."""

import pytest
from django.test import Client
from django.urls import reverse

from core.models import Membership
from tasks_app.models import Call, StopSwitch
from tasks_app.services.stops import stop_lift, stop_set
from tasks_app.status import CallState
from tests.integration.live.conftest import Live, Page, session_of
from tests.records import call_in, leased

SOON = 10.0  # seconds; by the clock alone a page would read after 15


def stop(live: Live, name: str = "test.note") -> StopSwitch:
    people = live.people
    done = stop_set(
        workspace=people.workspace, scope="agent", name=name, reason="runs away", user=people.silas, actor="person:s"
    )
    return done.switch


def lift(live: Live, switch: StopSwitch) -> None:
    silas = live.people.silas
    stop_lift(workspace=live.people.workspace, stop=switch.pk, reason="mended", user=silas, actor="person:silas")


def address(live: Live) -> str:
    found: str = (
        Client(headers={"cookie": session_of(live.people.rhea)}).get(reverse("approvals-stops")).context["live"]
    )
    return found


def stops_page(live: Live) -> Page:
    page_address = address(live)
    page = Page(lambda: live.socket(f"/ws/stops/?{page_address}", cookie=session_of(live.people.rhea)), 0)
    page.connect()
    page.until_head()
    return page


def take_until(page: Page, text: str) -> None:
    while text not in page.html:
        page.take(SOON)


def test_a_stop_that_is_set_waits_behind_a_link(live: Live):
    page = stops_page(live)
    stop(live)
    take_until(page, "Show 1 new")
    assert "runs away" not in page.html


def test_a_stop_that_is_lifted_says_so_in_its_place(live: Live):
    switch = stop(live)
    page = stops_page(live)
    lift(live, switch)
    take_until(page, f'id="stop-{switch.pk}" hx-swap-oob="true">\n    <div class="panel-head"><h2><svg')
    take_until(page, "This stop does not stand any more")


def test_an_attempt_from_before_goes_when_its_outcome_is_there(live: Live):
    task = leased(live.task)
    call_in(task, "pay", CallState.ATTEMPTED)
    switch = stop(live, name=task.agent)
    page = stops_page(live)
    take_until(page, "Attempted before it")
    page.html = ""
    Call.objects.filter(task=task).update(state=CallState.VERIFIED)
    live.signals(1)
    take_until(page, "No earlier attempt is without an outcome")
    assert f'id="stop-{switch.pk}"' in page.html


def test_whoever_lost_the_last_right_is_told_nothing_more(live: Live):
    page = stops_page(live)
    Membership.objects.filter(user=live.people.rhea).delete()
    assert page.closed_with() == 4403


@pytest.mark.parametrize("query", ["rows=x", "rows=1.-"])
def test_an_address_that_no_page_made_is_refused(live: Live, query: str):
    page = Page(lambda: live.socket(f"/ws/stops/?{query}", cookie=session_of(live.people.rhea)), 0)
    page.connect()
    assert page.closed_with() == 4403


def test_where_sockets_are_blocked_the_same_comes_over_http(live: Live, client: Client):
    switch = stop(live)
    client.force_login(live.people.rhea)
    query = address(live)
    lift(live, switch)
    html = client.get(f"{reverse('approvals-stops-live')}?{query}").json()["html"]
    assert "This stop does not stand any more" in html
    assert client.get(f"{reverse('approvals-stops-live')}?rows=x").status_code == 404
