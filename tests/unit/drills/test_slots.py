"""case-27 and case-28: no hour twice or never by the clock, no burst and no silence after an absence."""

from datetime import UTC, datetime, timedelta

import pytest

from chaos_app.drills.slots import NoSuchScheduleError, Policy, between, fates, occurrences


def at(text: str) -> datetime:
    return datetime.fromisoformat(f"{text}:00+00:00")


def slots(cron: str, zone: str, after: str, until: str) -> list[str]:
    return [f"{slot:%d %H:%M}" for slot in between(cron, zone, at(after), at(until))]


def test_an_hourly_schedule_follows_real_hours_when_an_hour_comes_twice():
    found = slots("0 * * * *", "America/Los_Angeles", "2027-11-07T07:30", "2027-11-07T10:30")
    assert found == ["07 08:00", "07 09:00", "07 10:00"]


def test_a_time_of_day_that_does_not_exist_fires_once_at_the_jump():
    found = slots("30 2 * * *", "Europe/Berlin", "2027-03-27T12:00", "2027-03-28T12:00")
    assert found == ["28 01:00"]


def test_a_time_of_day_that_exists_twice_fires_at_the_first():
    assert slots("30 2 * * *", "Europe/Berlin", "2027-10-30T12:00", "2027-10-31T12:00") == ["31 00:30"]


def test_a_daily_schedule_keeps_its_local_hour_over_the_change():
    assert slots("0 9 * * *", "Europe/Berlin", "2027-03-27T00:00", "2027-03-28T12:00") == ["27 08:00", "28 07:00"]


QUARTERS = ("00", "15", "30", "45")


@pytest.mark.parametrize(
    ("day", "hours"),
    [
        ("2027-03-14", ("06", "07")),  # 01:00 EST, then 03:00 EDT: 02:00 does not exist
        ("2027-11-07", ("05", "06", "07", "08")),  # 01:00 EDT, 01:00 EST, 02:00, 03:00
    ],
)
def test_every_quarter_of_an_hour_follows_real_time_over_a_change(day, hours):
    found = slots("*/15 1-3 * * *", "America/New_York", f"{day}T00:00", f"{day}T12:00")
    assert found == [f"{day[-2:]} {hour}:{quarter}" for hour in hours for quarter in QUARTERS]


def test_case_27_the_hour_that_happens_twice_or_never():
    hourly = slots("0 * * * *", "America/Los_Angeles", "2027-11-07T07:30", "2027-11-07T09:30")
    assert hourly == ["07 08:00", "07 09:00"]
    night = "30 2 * * *", "Europe/Berlin"
    assert slots(*night, "2027-03-27T12:00", "2027-03-28T12:00") == ["28 01:00"]
    assert slots(*night, "2027-10-30T12:00", "2027-10-31T12:00") == ["31 00:30"]
    assert slots("0 9 * * *", "Europe/Berlin", "2027-03-27T00:00", "2027-03-28T12:00") == ["27 08:00", "28 07:00"]


def test_what_cannot_be_read_is_refused():
    with pytest.raises(NoSuchScheduleError):
        next(occurrences("61 * * * *", "UTC", at("2027-01-01T00:00")))
    with pytest.raises(NoSuchScheduleError):
        next(occurrences("0 * * * *", "Europe/Nowhere", at("2027-01-01T00:00")))


DUE = [at("2027-01-01T01:00"), at("2027-01-01T02:00"), at("2027-01-01T03:00")]
BACK = at("2027-01-01T03:50")


def states(policy: Policy, *, now: datetime = BACK, busy: bool = False, due: list[datetime] = DUE) -> list[str]:
    return [fate.state for fate in fates(due, now, policy, busy=busy)]


def grace(minutes: int, **more: object) -> Policy:
    return Policy(grace=timedelta(minutes=minutes), **more)  # type: ignore[arg-type]


def test_latest_only_over_its_grace_starts_nothing_and_says_missed():
    assert states(grace(30)) == ["missed", "missed", "missed"]


def test_latest_only_within_its_grace_starts_one_and_says_how_late():
    decided = fates(DUE, BACK, grace(60), busy=False)
    assert [fate.state for fate in decided] == ["missed", "missed", "late"]
    assert decided[-1].why == "For 03:00Z, late by 50 min."


def test_each_is_made_up_one_after_the_other():
    policy = grace(30, catch_up="each")
    assert states(policy) == ["late", "", ""]
    assert states(policy, due=DUE[1:], busy=True) == ["", ""]
    assert states(policy, due=DUE[1:]) == ["late", ""]


def test_each_makes_up_at_most_so_many():
    assert states(grace(30, catch_up="each", most=2)) == ["missed", "late", ""]


def test_skip_makes_nothing_up():
    assert states(grace(600, catch_up="skip")) == ["missed", "missed", "missed"]


def test_a_slot_that_is_seen_at_once_is_fired():
    assert states(grace(30), now=DUE[0] + timedelta(seconds=1), due=DUE[:1]) == ["fired"]


def test_an_overlap_is_skipped_or_waits_as_the_policy_says():
    now = DUE[0] + timedelta(seconds=1)
    assert states(grace(30), now=now, due=DUE[:1], busy=True) == ["skipped"]
    assert states(grace(30, overlap="wait"), now=now, due=DUE[:1], busy=True) == [""]


def test_slots_are_utc():
    assert next(occurrences("0 * * * *", "Asia/Kolkata", at("2027-01-01T00:00"))).tzinfo == UTC
