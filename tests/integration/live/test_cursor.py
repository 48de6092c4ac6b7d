"""case-22: whatever is lost, doubled or out of order in between, the page ends with 1..N, each once, ascending."""

import asyncio

from channels.layers import get_channel_layer

from core.hints import group_of
from tasks_app.record.append import Token
from tasks_app.record.events import CheckpointAdvanced
from tasks_app.record.late import late_keep
from tests.integration.live.conftest import Live, Page
from tests.records import leased


def upto(seq: int, first: int = 1) -> list[int]:
    return list(range(first, seq + 1))


def loaded(live: Live, seq: int) -> Page:
    """A page that was loaded over HTTP with events 1 to ``seq``."""
    page = live.page(after=seq)
    page.seqs = upto(seq)
    return page


def test_case_22_a_events_between_the_snapshot_and_the_join_are_not_lost(live: Live):
    head = live.signals(49)
    page = loaded(live, head)
    live.signals(3, hint=False)
    page.connect()
    page.until(53)
    assert page.seqs == upto(53)


def test_case_22_b_a_control_frame_moves_no_cursor(live: Live):
    page = loaded(live, 1)
    page.connect()
    assert page.until_head() == 1
    page.drop()
    head = live.signals(5)
    page.connect()
    page.until(head)
    assert page.seqs == upto(head)


def test_case_22_c_a_connection_lost_before_any_event_came_loses_none(live: Live):
    page = loaded(live, 1)
    for _ in range(3):
        page.connect()
        page.drop()
        live.signals(4)
    page.connect()
    page.until(13)
    assert page.until_head() == 13
    assert page.seqs == upto(13)


def test_case_22_d_a_burst_beyond_every_buffer_arrives_whole(live: Live):
    page = loaded(live, 1)
    page.connect(resume=False)  # joined, and reading nothing yet
    head = live.signals(300, at_once=False)
    page.resume()
    page.until(head)
    assert page.seqs == upto(301)
    live.signals(300, at_once=False)  # the same while it reads
    page.until(601)
    assert page.seqs == upto(601)
    assert all(frame["after"] < frame["seq"] for frame in page.frames if "seq" in frame)


def test_case_22_e_hints_out_of_order_false_or_doubled_change_nothing(live: Live):
    page = loaded(live, 1)
    page.connect()
    page.until_head()
    live.signals(2, hint=False)

    async def hints() -> None:
        layer = get_channel_layer()
        for seq in (3, 2, 3, 400, 399, -1):
            message = {"type": "hint", "stream": str(live.task.pk), "seq": seq}
            await layer.group_send(group_of(live.task.pk), message)

    asyncio.run(hints())
    page.until(3)
    live.signals(1)
    page.until(4)
    assert page.seqs == upto(4)


def test_a_hint_that_is_lost_costs_fifteen_seconds_at_most(live: Live):
    page = loaded(live, 1)
    page.connect()
    live.settled(page)
    head = live.signals(1, hint=False)
    page.until(head)  # no hint was sent: the clock alone
    assert page.seqs == upto(4)


def test_a_page_that_asks_again_from_earlier_is_told_again(live: Live):
    head = live.signals(20)
    page = live.page(after=0)
    page.connect()
    page.until(head)
    page.after, page.seqs = 7, []
    page.resume()
    page.until(head)
    assert page.seqs == upto(head, first=8)


def test_a_late_write_appears_while_one_looks(live: Live):
    task = leased(live.task)
    page = live.page(after=task.head_seq)
    page.connect()
    page.until_head()
    assert task.lease_nonce
    late = CheckpointAdvanced(step=1)
    gone = Token(epoch=7, nonce=task.pk)
    late_keep(stream=task.pk, events=[late], actor="worker:w-3", token=gone)
    while "late-" not in page.html:
        page.take(timeout=5)  # by its hint, not by the clock
    assert "presented lease no. 7" in page.html
    assert page.after == task.head_seq


def test_the_head_of_the_page_follows_too(live: Live):
    page = live.page(after=1)
    page.connect()
    page.until_head()
    from tasks_app.services.steer import task_pause

    task_pause(workspace=live.people.workspace, task=live.task.pk, actor="person:silas", reason="stop here")
    page.until(2)
    assert page.frames[-1].get("say") == "silas paused the task: “stop here”."
    while "Paused by <code>silas</code>" not in page.html:
        page.take()
    assert 'id="task-status" hx-swap-oob="true"' in page.html
