"""Times in words."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from core.moments import absolute, clock_exact, duration, machine, relative
from core.templatetags.handrail import clock_time

NOW = datetime(2026, 11, 29, 12, 3, 22, 123000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.4, "now"),
        (-0.4, "now"),
        (12, "12 s ago"),
        (59.9, "59 s ago"),
        (60, "1 min ago"),
        (7200, "2 h ago"),
        (3 * 86_400, "3 d ago"),
        (-250, "in 4 min"),
        (31 * 86_400, "2026-10-29"),
    ],
)
def test_a_moment_is_told_in_its_largest_unit(seconds: float, words: str) -> None:
    assert relative(NOW - timedelta(seconds=seconds), NOW) == words


def test_moments_of_any_zone_are_shown_in_utc() -> None:
    there = NOW.astimezone(timezone(timedelta(hours=9)))
    assert absolute(there) == "2026-11-29 12:03:22 UTC"
    assert machine(there) == "2026-11-29T12:03:22.123Z"
    assert clock_exact(there) == "12:03:22.123"


def test_the_clock_of_another_day_is_shown_with_its_date() -> None:
    assert ">12:03:22.123</time>" in clock_time(NOW, NOW + timedelta(hours=11))
    assert ">2026-11-29 12:03:22.123</time>" in clock_time(NOW, NOW + timedelta(hours=12))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        *(
            (-1, "0.0 s"),
            (0.42, "0.4 s"),
            (12.9, "12 s"),
            (250, "4 min 10 s"),
            (7500, "2 h 5 min"),
            (277_200, "3 d 5 h"),
        ),
        *((60, "1 min"), (3600, "1 h"), (3659, "1 h"), (86_400, "1 d"), (864_000, "10 d")),
    ],
)
def test_a_length_of_time_is_told_in_two_units_at_most(seconds: float, words: str) -> None:
    assert duration(seconds) == words
