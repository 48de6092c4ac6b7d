"""Plots: bars that add up, and a sentence that says the same."""

from datetime import UTC, datetime, timedelta

from core.board.plots import HEIGHT, HOURS, hours_until, spread, throughput, waiting
from core.moments import duration

NOW = datetime(2026, 11, 30, 14, 20, tzinfo=UTC)


def test_the_hours_are_the_last_24_with_the_one_that_runs():
    hours = hours_until(NOW)
    assert len(hours) == HOURS
    assert (hours[0].hour, hours[-1]) == (15, NOW.replace(minute=0))


def test_a_span_is_shared_out_over_the_hours_that_it_touches():
    hours = hours_until(NOW)
    span = (NOW - timedelta(hours=1), NOW)  # 13:20 to 14:20
    assert spread(hours, [span])[-2:] == [2400.0, 1200.0]
    assert sum(spread(hours, [(NOW - timedelta(days=3), NOW)])) == 23 * 3600 + 1200


def test_bars_stand_on_each_other_and_the_highest_fills_the_picture():
    done, bad = [0] * HOURS, [0] * HOURS
    done[3], bad[3], done[5] = 3, 1, 2
    plot = throughput(hours_until(NOW), done, bad)
    good, worse, other = plot.bars
    assert round(good.height + worse.height, 1) == HEIGHT
    assert worse.y == 0.0
    assert other.height == HEIGHT / 2
    assert plot.summary == "5 completed, 1 failed or cancelled in 24 hours. Most ended in the hour from 18:00 UTC: 4."


def test_nothing_is_a_sentence_and_no_picture():
    empty = [0] * HOURS
    assert throughput(hours_until(NOW), empty, empty).bars == ()
    assert waiting(hours_until(NOW), [0.0] * HOURS, 0).summary == "Nothing waited for a person in the last 24 hours."


def test_a_wait_is_said_per_call_and_never_as_a_sum_that_reads_like_one_long_wait():
    hours, seconds = hours_until(NOW), [0.0] * HOURS
    seconds[3], seconds[5] = 1200.0, 120.0
    many, one = waiting(hours, seconds, 10).summary, waiting(hours, seconds, 1).summary
    assert f"10 calls waited for people in 24 hours, {duration(132)} each on average." in many
    assert f"Most in the hour from 18:00 UTC: {duration(1200)} added up." in many
    assert one.startswith(f"1 call waited for a person in 24 hours: {duration(1320)}.")
