"""Every state has its word, glyph and colour."""

from datetime import UTC, datetime

import pytest

from core.glyphs import GLYPHS
from core.words import VOCABULARY, approval_word, task_word, word
from tasks_app.status import CallState, EffectClass, Status, WaitKind

TONES = {"idle", "busy", "person", "ok", "bad", "unknown"}


@pytest.mark.parametrize(
    ("family", "states"), [("task", Status), ("waiting", WaitKind), ("call", CallState), ("effect", EffectClass)]
)
def test_every_declared_state_has_a_word(family: str, states: type[Status]) -> None:
    assert set(VOCABULARY[family]) == {state.value for state in states}


def test_every_word_has_a_drawn_glyph_and_a_known_tone() -> None:
    words = [found for family in VOCABULARY.values() for found in family.values()]
    assert {found.glyph for found in words} <= GLYPHS.keys()
    assert {found.tone for found in words} <= TONES


def test_no_two_states_of_a_task_look_alike_without_colour() -> None:
    shown = [(found.glyph, found.text) for family in ("task", "waiting") for found in VOCABULARY[family].values()]
    assert len(set(shown)) == len(shown)


def test_waiting_says_what_for_and_until_when() -> None:
    until = datetime(2026, 11, 29, 12, 3, 22, tzinfo=UTC)
    assert task_word("waiting", waiting_for="approval").text == "Waiting for approval"
    assert task_word("waiting", waiting_for="look_up", until=until).text == "Checking outcome until 12:03:22"
    assert task_word("quarantined", losses=5).text == "Stopped after 5 lost workers"


def test_what_was_withdrawn_says_by_what() -> None:
    for why, said in {
        "": "Withdrawn",
        "task cancelled": "Withdrawn: task cancelled",
        "edited by rhea (page): too much; see 'move #2'": "Withdrawn: edited by rhea",
        "tool changed: desk.clean is now at version 3, not 2": "Withdrawn: tool changed",
        "policy became stricter: it refuses this call (rule 'x', version 1)": "Withdrawn: policy became stricter",
        "rhea may no longer decide this": "Withdrawn: rhea may no longer decide this",
        "the standing grant is used up": "Withdrawn: the standing grant is used up",
    }.items():
        assert approval_word("voided", why=why).text == said
    assert approval_word("denied", why="ignored").text == "Denied"


def test_an_unknown_state_is_shown_under_its_own_name() -> None:
    assert word("task", "gone_fishing").text == "Gone fishing"
