"""Titles of a library's pages are written as this site writes them."""

import pytest

from core.templatetags.handrail import sentence_case


@pytest.mark.parametrize(
    ("title", "written"),
    [
        ("\n  Two-Factor Authentication\n", "Two-factor authentication"),
        ("Activate Authenticator App", "Activate authenticator app"),
        ("Use TOTP Codes", "Use TOTP codes"),
        ("", ""),
    ],
)
def test_only_the_first_word_begins_with_a_capital(title, written):
    assert sentence_case(title) == written
