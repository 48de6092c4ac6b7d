"""Who may listen: our own pages only (case-26), with a session and a right, asked again at every read and each 5 s."""

import json
import os
import socket
import time

import pytest
from django.conf import settings as django_settings
from django.contrib.sessions.models import Session
from django.db import connection
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from approvals_app.models import ApprovalRequest
from core.models import Membership
from tasks_app.live.consumer import READ_EVERY
from tasks_app.services.steer import task_pause
from tests.conftest import database_url
from tests.integration.live.conftest import Live, session_of
from tests.serving import web_server

WITHDRAWN = 4403


@pytest.fixture(scope="module")
def desk_test(django_db_setup, tmp_path_factory):
    """A web process that is known to the world as https://desk.test."""
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "core.settings",
        "DATABASE_URL": database_url(connection.settings_dict),
        "REDIS_URL": django_settings.REDIS_URL,
        "CELERY_BROKER_URL": django_settings.CELERY_BROKER_URL,
        "ALLOWED_HOSTS": "desk.test",
        "PUBLIC_URL": "https://desk.test",
        "SECRET_KEY": "a key of this test alone, long enough to be taken for one",
    }
    with web_server(environment, tmp_path_factory.mktemp("desk")) as server:
        yield server


def handshake(server, path: str, origin: str | None, *, host: str = "desk.test") -> int:
    """Return the status of a handshake to our port under another name, as a proxy passes it on."""
    try:
        line = socket.create_connection(("127.0.0.1", server.port))
        with line, connect(f"ws://{host}{path}", sock=line, origin=origin):  # type: ignore[arg-type]
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("https://desk.test", 101),
        ("https://evil.test", 403),
        ("https://desk.test.evil.test", 403),
        ("null", 403),
        (None, 403),
        ("http://desk.test:8081", 403),  # another port is another origin; cookies do not keep ports apart
        ("https://desk.test:8081", 403),
        ("https://sub.desk.test", 403),
        ("https://user@desk.test", 403),
        ("//desk.test", 403),
        ("https://desk.test:port", 403),
    ],
)
def test_case_26_only_our_own_pages_open_a_socket(live: Live, desk_test, origin: str | None, status: int):
    for path in (f"/ws/tasks/{live.task.pk}/", "/ws/tasks/?workspace=harbour"):
        assert handshake(desk_test, path, origin) == status


def test_case_26_a_name_that_is_rebound_to_us_is_no_host_of_ours(live: Live, desk_test):
    path = f"/ws/tasks/{live.task.pk}/"
    assert handshake(desk_test, path, "http://evil.test", host="evil.test") == 403


def test_case_26_nothing_is_decided_over_a_socket(live: Live):
    page = live.page(after=1)
    page.connect()
    page.until_head()
    assert page.socket is not None
    before = live.refresh().head_seq
    for order in (
        {"type": "approve", "approval": str(live.task.pk), "decision": "approved"},
        {"type": "pause", "reason": "x"},
        {"type": "hint"},
        {"type": "websocket.close"},
        {"type": "resume", "after": "1; DROP TABLE"},
        {"type": "resume", "after": -5},
        {"type": "resume", "after": True},
        [],
        "x" * 5000,
    ):
        page.socket.send(json.dumps(order))
    page.socket.send("{no json")
    page.socket.send(b"\x00\x01")
    page.resume()
    assert page.until_head() == before
    assert not ApprovalRequest.objects.exists()


def test_without_a_session_or_a_right_it_is_accepted_and_closed_with_a_code(live: Live):
    for cookie in ("", "sessionid=nonsense", session_of(live.people.tobin)):
        page = live.page(after=1, cookie=cookie)
        page.connect()
        assert page.closed_with() == WITHDRAWN
        assert page.frames == []


def test_an_unknown_task_is_closed_like_a_forbidden_one(live: Live):
    page = live.page(after=0)
    live.task.pk = live.people.workspace.pk
    page = live.page(after=0)
    page.connect()
    assert page.closed_with() == WITHDRAWN


def test_a_withdrawn_right_ends_it_within_five_seconds_without_any_event(live: Live):
    page = live.page(after=1, user=live.people.silas)
    page.connect()
    live.settled(page)
    Membership.objects.filter(user=live.people.silas).delete()
    began = time.monotonic()
    assert page.closed_with() == WITHDRAWN
    assert time.monotonic() - began < READ_EVERY - 3  # by its own clock, and not by that of the readings


def test_after_a_withdrawal_not_one_more_event_is_sent(live: Live):
    page = live.page(after=1, user=live.people.silas)
    page.connect()
    page.until_head()
    Membership.objects.filter(user=live.people.silas).delete()
    live.signals(3)
    assert page.closed_with() == WITHDRAWN
    assert page.seqs == []


def test_a_session_that_ended_ends_it_too(live: Live):
    page = live.page(after=1)
    page.connect()
    page.until_head()
    Session.objects.all().delete()
    live.signals(1)
    assert page.closed_with() == WITHDRAWN
    assert page.seqs == []


def test_a_person_who_may_only_look_gets_no_buttons_that_they_may_not_press(live: Live):
    from core.access import Role
    from tests.people import person

    page = live.page(after=1, user=person("vera", live.people.workspace, Role.VIEWER))
    page.connect()
    page.until_head()
    task_pause(workspace=live.people.workspace, task=live.task.pk, actor="person:silas", reason="x")
    while "task-facts" not in page.html:
        page.take()
    page.resume()
    page.until_head()
    assert "<form" not in page.html


def test_a_socket_at_an_unknown_address_is_refused(live: Live):
    with pytest.raises((InvalidStatus, ConnectionClosed)):
        live.socket("/ws/elsewhere/", cookie=session_of(live.people.rhea))
