"""A task's time: every second is in exactly one part."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tasks_app.timeline.split import WIDTH, time_split

BEGIN = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@dataclass
class Fact:
    kind: str
    after: float
    data: dict[str, Any] = field(default_factory=dict)

    @property
    def at(self) -> datetime:
        return BEGIN + timedelta(seconds=self.after)


def split(*facts: Fact, until: float) -> dict[str, float]:
    shares = time_split(facts, created=BEGIN, until=BEGIN + timedelta(seconds=until))
    assert round(sum(share.width for share in shares), 1) == WIDTH
    assert round(sum(share.seconds for share in shares), 6) == until
    return {share.name: share.seconds for share in shares}


def test_before_a_worker_came_it_was_queued():
    assert split(until=5) == {"queued": 5.0}
    assert split(Fact("slice.claimed", 2), until=5) == {"working": 3.0, "queued": 2.0}


def test_waiting_for_a_decision_is_time_of_people_until_it_is_decided():
    facts = [
        Fact("slice.claimed", 1),
        Fact("wait.started", 3, {"kind": "approval"}),
        Fact("slice.released", 4, {"why": "parked"}),
        Fact("approval.decided", 64),
        Fact("slice.claimed", 65),
        Fact("slice.released", 70, {"why": "finished"}),
    ]
    assert split(*facts, until=70) == {"working": 8.0, "queued": 2.0, "person": 60.0}


def test_a_doubt_waits_for_people_and_a_timer_does_not():
    doubt = [Fact("slice.claimed", 1), Fact("call.in_doubt", 2), Fact("slice.released", 3), Fact("call.settled", 13)]
    assert split(*doubt, until=14) == {"working": 2.0, "queued": 2.0, "person": 10.0}
    timer = [Fact("slice.claimed", 1), Fact("wait.started", 2, {"kind": "timer"}), Fact("slice.released", 3)]
    assert split(*timer, Fact("wait.ended", 33), until=34) == {"working": 2.0, "queued": 2.0, "other": 30.0}


def test_between_a_lost_worker_and_the_next_it_is_queued():
    facts = [Fact("slice.claimed", 0), Fact("slice.lost", 5), Fact("slice.claimed", 6)]
    assert split(*facts, until=10) == {"working": 9.0, "queued": 1.0}
