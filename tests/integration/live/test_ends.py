"""However a socket ends, nothing of it goes on, and the page is told whether to come back."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
from django.db import connection
from prometheus_client.parser import text_string_to_metric_families
from websockets.sync.client import ClientConnection

from approvals_app.models import ApprovalRequest
from tasks_app.live.consumer import LiveConsumer
from tests.desk import Desk, parked
from tests.integration.live.conftest import AGAIN, Live, Page, session_of, wait_for


def sockets_open(live: Live) -> float:
    families = text_string_to_metric_families(httpx.get(f"{live.web.address}/metrics", timeout=30).text)
    return next(one.samples[0].value for one in families if one.name == "handrail_live_sockets")


@contextmanager
def approvals_away() -> Iterator[None]:
    """No approval can be read meanwhile; everything else can."""
    table = connection.ops.quote_name(ApprovalRequest._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} RENAME TO away")
        try:
            yield
        finally:
            cursor.execute(f"ALTER TABLE away RENAME TO {table}")


def test_an_order_that_fails_closes_its_socket_and_leaves_nothing_of_it(live: Live, desk: Desk):
    request = parked(desk)
    wait_for(lambda: sockets_open(live) == 0, what="the sockets of earlier tests to be closed")
    cookie = session_of(desk.rhea)
    page = Page(lambda: live.socket("/ws/approvals/?tab=team", cookie=cookie), 0)
    page.connect()
    page.until_head()
    page.comebacks = 0
    assert sockets_open(live) == 1
    with approvals_away():
        assert isinstance(page.socket, ClientConnection)
        page.socket.send(json.dumps({"type": "looking", "approval": str(request.pk)}))
        assert page.closed_with() == AGAIN
        wait_for(lambda: sockets_open(live) == 0, what="the socket to be forgotten")
    page.connect()  # as the page does
    page.until_head()


def test_a_card_that_cannot_be_read_is_closed_like_the_desk_and_leaves_nothing(live: Live, desk: Desk):
    request = parked(desk)
    wait_for(lambda: sockets_open(live) == 0, what="the sockets of earlier tests to be closed")
    cookie = session_of(desk.rhea)
    page = Page(lambda: live.socket(f"/ws/approvals/{request.pk}/", cookie=cookie), 0)
    page.comebacks = 0
    with approvals_away():
        page.connect()
        assert page.closed_with() == AGAIN
    wait_for(lambda: sockets_open(live) == 0, what="the socket to be forgotten")


def test_a_browser_that_goes_in_the_middle_of_a_message_is_no_failure_of_ours(caplog: pytest.LogCaptureFixture):
    consumer = LiveConsumer()
    consumer.jobs = []

    async def gone(message: object = None) -> None:
        raise ConnectionResetError("the browser has gone")

    consumer.base_send = gone
    asyncio.run(consumer.guarded(gone()))
    assert not caplog.records
