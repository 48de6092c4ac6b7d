"""A call's time: every second of its life is in one stretch, in order."""

from datetime import UTC, datetime, timedelta

from tasks_app.timeline.call_split import LEAST, WIDTH, CallSplit, calls_split

BEGIN = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def split(*facts: tuple[str, float], until: float | None = None) -> CallSplit:
    told = [(kind, None if kind.startswith("slice.") else "pay", BEGIN + timedelta(seconds=at)) for kind, at in facts]
    now = BEGIN + timedelta(seconds=until or 0)
    found = calls_split(told, running={"pay": until is not None}, now=now)["pay"]
    assert round(sum(part.width for part in found.parts), 1) == (WIDTH if found.parts else 0)
    return found


def stretches(found: CallSplit) -> list[tuple[str, float]]:
    return [(part.name, part.seconds) for part in found.parts]


def test_queue_people_and_work_follow_each_other():
    found = split(
        ("call.intended", 0),
        ("approval.requested", 1),
        ("approval.decided", 61),
        ("call.attempted", 62),
        ("call.outcome", 65),
        ("call.verified", 66),
    )
    assert stretches(found) == [("queued", 1.0), ("person", 60.0), ("queued", 1.0), ("working", 4.0)]
    assert found.sums == [("with people", 60.0), ("at work", 4.0), ("in a queue", 2.0)]
    assert found.seconds == 66.0


def test_a_call_that_is_open_goes_on_until_now():
    assert stretches(split(("call.intended", 0), ("approval.requested", 0), until=30)) == [("person", 30.0)]
    assert stretches(split(("call.intended", 0), ("call.attempted", 0), ("call.in_doubt", 5), until=9)) == [
        ("working", 5.0),
        ("person", 4.0),
    ]


def test_between_a_lost_worker_and_the_next_it_is_in_a_queue():
    found = split(
        *(("call.intended", 0), ("call.attempted", 1), ("slice.lost", 2), ("slice.claimed", 6), ("call.verified", 7))
    )
    assert stretches(found) == [("queued", 1.0), ("working", 1.0), ("queued", 4.0), ("working", 1.0)]


def test_a_call_without_effect_is_at_work_as_soon_as_it_may_run():
    facts = [("call.intended", 0), ("approval.requested", 1), ("approval.decided", 3), ("call.outcome", 6)]
    told = [(kind, "read", BEGIN + timedelta(seconds=at)) for kind, at in facts]
    found = calls_split(told, running={"read": False}, now=BEGIN, at_once=frozenset({"read"}))["read"]
    assert stretches(found) == [("working", 1.0), ("person", 2.0), ("working", 3.0)]


def test_the_shortest_stretch_can_be_seen():
    found = split(
        ("call.intended", 0), ("approval.requested", 0.01), ("approval.decided", 9000), ("call.verified", 9001)
    )
    assert min(part.width for part in found.parts) > LEAST * 0.9


def test_what_was_over_at_once_and_what_is_not_asked_about_has_no_bar():
    assert split(("call.intended", 0)).parts == []
    assert calls_split([("call.intended", "other", BEGIN)], running={"pay": True}, now=BEGIN) == {}
