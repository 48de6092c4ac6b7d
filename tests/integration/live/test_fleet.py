"""The workers page follows: its rows change in place, a new worker waits behind a link, what is wrong is said."""

from datetime import timedelta
from time import monotonic

from django.test import Client
from django.urls import reverse

from core.clock import database_now
from core.hints import live_hint
from tasks_app.live.consumer import READ_EVERY
from tasks_app.models import Worker
from tests.integration.live.conftest import Live, Page, session_of


def worker(name: str) -> Worker:
    now = database_now()
    return Worker.objects.create(name=name, host="h", pid=7, pool="prefork", started_at=now, seen_at=now)


def test_a_worker_that_goes_changes_in_place_and_a_new_one_waits_behind_a_link(live: Live):
    lives = worker("w-1")
    cookie = session_of(live.people.rhea)
    address = Client(headers={"cookie": cookie}).get(reverse("workers")).context["live"]
    page = Page(lambda: live.socket(f"/ws/workers/?{address}", cookie=cookie), 0)
    page.connect()
    page.until_head()
    Worker.objects.filter(pk=lives.pk).update(seen_at=database_now() - timedelta(seconds=60))
    worker("w-2")
    page.html = ""
    while "Show 1 new" not in page.html:
        live_hint(stream=live.task.pk, workspace=live.people.workspace.pk, seq=1)
        page.take()
    assert f'<tr id="worker-{lives.pk}" role="row" hx-swap-oob="true" class="gone">' in page.html
    assert "w-2" not in page.html
    polled = Client(headers={"cookie": cookie}).get(f"{reverse('workers-live')}?{address}").json()["html"]
    assert "Show 1 new" in polled
    assert Client(headers={"cookie": cookie}).get(f"{reverse('workers-live')}?rows=nonsense").status_code == 404


def test_a_hint_that_comes_right_after_a_reading_is_not_left_to_the_clock(live: Live):
    lives = worker("w-1")
    cookie = session_of(live.people.rhea)
    address = Client(headers={"cookie": cookie}).get(reverse("workers")).context["live"]
    page = Page(lambda: live.socket(f"/ws/workers/?{address}", cookie=cookie), 0)
    page.connect()
    page.until_head()
    Worker.objects.filter(pk=lives.pk).update(seen_at=database_now() - timedelta(seconds=60))
    live_hint(stream=live.task.pk, workspace=live.people.workspace.pk, seq=1)
    began = monotonic()
    while 'class="gone"' not in page.html:
        page.take()
    assert monotonic() - began < READ_EVERY - 3


def test_workers_of_another_workspaces_page_are_refused(live: Live):
    cookie = session_of(live.people.tobin)
    page = Page(lambda: live.socket("/ws/workers/?workspace=harbour", cookie=cookie), 0)
    page.connect()
    assert page.closed_with() == 4403
