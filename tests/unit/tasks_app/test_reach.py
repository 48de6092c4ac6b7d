"""A sweeper may judge by time only what it has watched without a gap."""

from tasks_app.sweeper import Reach

GAP = 2.0


def reach(*moments: float) -> Reach:
    result = Reach(gap=GAP)
    for moment in moments:
        result.touch(moment)
    return result


def steps(start: float, end: float) -> list[float]:
    return [start + 0.25 * n for n in range(int((end - start) / 0.25) + 1)]


def test_a_sweeper_that_has_just_begun_may_not_judge():
    assert not reach(10.0).whole(4)


def test_after_a_whole_lease_of_answers_it_may():
    assert reach(*steps(10, 14)).whole(4)
    assert not reach(*steps(10, 13.75)).whole(4)


def test_an_error_begins_the_count_again():
    watched = reach(*steps(10, 14))
    watched.broken()
    assert not watched.whole(4)
    watched.touch(14.25)
    assert not watched.whole(4)


def test_a_sweeper_that_was_stopped_for_a_while_begins_again():
    watched = reach(*steps(10, 14))
    watched.touch(14 + GAP + 8)
    assert not watched.whole(4)
