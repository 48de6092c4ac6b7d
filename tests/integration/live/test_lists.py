"""Lists keep no cursor: a hint makes them look at their visible rows again; newcomers are counted."""

from time import monotonic
from urllib.parse import urlencode

from django.test import Client
from django.urls import reverse

from core.hints import live_hint
from tasks_app.live.consumer import READ_EVERY
from tasks_app.services.steer import task_pause
from tests.integration.live.conftest import Live, Page, session_of
from tests.records import new_task


def list_page(live: Live, **query: str) -> Page:
    cookie = session_of(live.people.rhea)
    client = Client(headers={"cookie": cookie})
    address = client.get(reverse("tasks"), query).context["live"]
    return Page(lambda: live.socket(f"/ws/tasks/?{address}", cookie=cookie), 0)


def test_rows_change_in_place_also_when_they_no_longer_fit_the_filter(live: Live):
    page = list_page(live, status="queued")
    page.connect()
    assert page.until_head() == 0
    task_pause(workspace=live.people.workspace, task=live.task.pk, actor="person:silas", reason="x")
    while "Paused" not in page.html:
        page.take()
    assert f'<tr id="row-{live.task.pk}" role="row" hx-swap-oob="true">' in page.html
    assert all("seq" not in frame for frame in page.frames)


def test_newcomers_are_counted_and_wait_behind_a_link(live: Live):
    page = list_page(live, text="Watch")
    page.connect()
    page.until_head()
    for title in ("Watch this", "Not this", "Watch that"):
        made = new_task(live.people.workspace, live.people.rhea, title=title)
        live_hint(stream=made.pk, workspace=made.workspace_id, seq=1)
    while "Show 2 new" not in page.html:
        page.take()
    assert 'href="/tasks/?text=Watch"' in page.html
    assert "Not this" not in page.html


def test_counts_that_a_reading_left_out_follow_before_the_clock_would(live: Live):
    page = list_page(live)
    page.connect()
    page.until_head()
    page.html = ""
    task_pause(workspace=live.people.workspace, task=live.task.pk, actor="person:silas", reason="x")
    began = monotonic()
    while "task-counts" not in page.html:
        page.take()
    assert monotonic() - began < READ_EVERY - 3


def test_what_has_not_changed_is_not_sent_again(live: Live):
    page = list_page(live)
    page.connect()
    page.until_head()
    page.html = ""
    other = new_task(live.people.elsewhere, live.people.tobin)
    live_hint(stream=other.pk, workspace=live.people.workspace.pk, seq=1)
    task_pause(workspace=live.people.workspace, task=live.task.pk, actor="person:silas", reason="x")
    while "Paused" not in page.html:
        page.take()
    assert page.html.count("<tr ") == 1


def test_somebody_elses_rows_are_never_sent(live: Live):
    cookie = session_of(live.people.tobin)
    for slug, code in (("harbour", 4403), ("elsewhere", None)):
        query = urlencode({"workspace": slug, "rows": live.task.pk.hex, "end": "whole"})
        page = Page(lambda query=query: live.socket(f"/ws/tasks/?{query}", cookie=cookie), 0)
        page.connect()
        if code:
            assert page.closed_with() == code
        else:
            page.until_head()
        assert "Watch me" not in page.html


def test_the_poll_of_a_list_answers_its_rows(live: Live):
    client = Client(headers={"cookie": session_of(live.people.rhea)})
    address = client.get(reverse("tasks")).context["live"]
    answer = client.get(f"{reverse('tasks-live')}?{address}").json()
    assert answer["head"] == 0
    assert f"row-{live.task.pk}" in answer["html"]
    assert client.get(reverse("tasks-live"), {"rows": "nonsense"}).status_code == 404
