"""The parts of a review are the whole of the arguments: nothing is cut, nothing is shown twice."""

from hypothesis import given
from hypothesis import strategies as st

from approvals_app.review import PART, Review


def review(arguments: dict[str, object], **more: int) -> Review:
    limits = {"size": len(str(arguments)), "card": 8_000, "most": 3_500_000, **more}
    return Review.of(arguments, **limits)


@given(st.dictionaries(st.text(min_size=1, max_size=5), st.integers(0, 3 * PART).map("x".__mul__), max_size=5))
def test_the_parts_together_are_everything_once(arguments: dict[str, str]):
    joined: dict[str, str] = {}
    for part in review(arguments).parts():
        for one in part:
            assert one.start == len(joined.get(one.name, "")) + 1
            joined[one.name] = joined.get(one.name, "") + one.text
    assert joined == arguments


def test_a_part_is_never_much_larger_than_its_limit():
    parts = review({f"a{number}": "x" * (PART // 2 + 1) for number in range(9)}).parts()
    assert max(sum(len(one.text) for one in part) for part in parts) <= PART
    assert len(parts) == 9


def test_a_card_shows_small_arguments_whole_and_of_large_ones_the_beginning():
    assert review({"a": "x"}).fits_card
    large = review({"a": "x" * 9_000})
    assert not large.fits_card
    assert (large.heads()[0].end, large.heads()[0].total) == (400, 9_000)
    assert not review({f"a{number}": 1 for number in range(100)}).fits_card


def test_what_nobody_can_read_is_too_large():
    assert review({"a": 1}, size=3_500_001).too_large
    assert not review({"a": 1}, size=3_500_000).too_large
