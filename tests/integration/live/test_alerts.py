"""The page of alerts follows what is raised and what is over; the count stands in every page's navigation."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from approvals_app.notify.models import Alert
from approvals_app.notify.services.alerts import alerts_watch
from core.models import Membership
from tasks_app.models import Status, Task
from tests.channels import nobody_missed
from tests.integration.live.conftest import Live, Page, session_of

SOON = 10.0  # seconds; by the clock alone a page would read after 15


@pytest.fixture(autouse=True)
def _nobody_missed(live: Live) -> None:
    nobody_missed()


def alerts_page(live: Live) -> Page:
    cookie = session_of(live.people.rhea)
    address = Client(headers={"cookie": cookie}).get(reverse("alerts")).context["live"]
    return Page(lambda: live.socket(f"/ws/alerts/?{address}", cookie=cookie), 0)


def quarantine(live: Live, status: Status = Status.QUARANTINED) -> None:
    Task.objects.filter(pk=live.task.pk).update(status=status)
    alerts_watch()


def take_until(page: Page, text: str) -> None:
    while text not in page.html:
        page.take(SOON)


def counts(page: Page) -> list[str]:
    """The counts of the navigation that were sent, in order; empty for none."""
    found = re.findall(r'id="place-alerts" hx-swap-oob="true">(?:<span class="count">(\d+))?', page.html)
    return [str(one) for one in found]


def test_what_is_raised_waits_behind_a_link_and_is_counted_in_the_navigation(live: Live):
    page = alerts_page(live)
    page.connect()
    page.until_head()
    while counts(page) != [""]:
        page.take(SOON)
    quarantine(live)
    take_until(page, "Show 1 new")
    while counts(page) != ["", "1"]:
        page.take(SOON)
    assert "Stopped after" not in page.html


def test_what_is_over_says_so_in_its_row_and_stays(live: Live):
    quarantine(live)
    (alert,) = Alert.objects.filter(rule="stopped")
    page = alerts_page(live)
    page.connect()
    page.until_head()
    quarantine(live, Status.QUEUED)
    take_until(page, f'<span id="alert-{alert.pk}" hx-swap-oob="true" data-over>')
    while counts(page)[-1:] != [""]:
        page.take(SOON)


def test_whoever_lost_the_last_right_is_told_nothing_more(live: Live):
    page = alerts_page(live)
    page.connect()
    page.until_head()
    Membership.objects.filter(user=live.people.rhea).delete()
    assert page.closed_with() == 4403


@pytest.mark.parametrize("query", ["rows=x", "rows=0"])
def test_an_address_that_no_page_made_is_refused(live: Live, query: str):
    page = Page(lambda: live.socket(f"/ws/alerts/?{query}", cookie=session_of(live.people.rhea)), 0)
    page.connect()
    assert page.closed_with() == 4403


def test_where_sockets_are_blocked_the_same_comes_over_http(live: Live, client: Client):
    quarantine(live)
    client.force_login(live.people.rhea)
    address = client.get(reverse("alerts")).context["live"]
    quarantine(live, Status.QUEUED)
    html = client.get(f"{reverse('alerts-live')}?{address}").json()["html"]
    assert "data-over" in html
    assert 'id="place-alerts"' in html
    assert client.get(f"{reverse('alerts-live')}?rows=x").status_code == 404
