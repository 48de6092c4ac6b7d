"""Who is looking: heard of, gone, or forgotten."""

from approvals_app.live.looking import FORGET_AFTER, Lookers, sentence


def heard(lookers: Lookers, key: str, name: str, at: float, **more: bool) -> list[str]:
    lookers.take({"key": key, "name": name, **more}, at)
    return lookers.names(at)


def test_others_are_named_once_and_the_reader_never():
    lookers = Lookers("rhea")
    assert heard(lookers, "1", "rhea", 0) == []
    assert heard(lookers, "2", "silas", 1) == ["silas"]
    assert heard(lookers, "3", "silas", 1) == ["silas"]
    assert heard(lookers, "4", "owen", 1) == ["owen", "silas"]
    assert heard(lookers, "4", "owen", 2, gone=True) == ["silas"]


def test_who_is_not_heard_of_any_more_is_forgotten():
    lookers = Lookers("rhea")
    heard(lookers, "2", "silas", 0)
    assert lookers.names(FORGET_AFTER - 0.1) == ["silas"]
    assert lookers.names(FORGET_AFTER) == []


def test_the_sentence_fits_the_number():
    assert sentence([]) == ""
    assert sentence(["silas"]) == "silas is looking at this card"
    assert sentence(["owen", "silas"]) == "owen and silas are looking at this card"
    assert sentence(["a", "b", "c"]) == "a, b and c are looking at this card"
