"""A web address that a deployment wrote is a link; nothing else becomes markup or a place to go to."""

import pytest

from core.templatetags.handrail import linked


def link(address: str, shown: str = "") -> str:
    return f'<a href="{shown or address}" rel="noopener noreferrer">{shown or address}</a>'


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Look at https://bank.test/list.", f"Look at {link('https://bank.test/list')}."),
        ("(http://localhost:8100/#payments)", f"({link('http://localhost:8100/#payments')})"),
        ("https://bank.test/?a=1&b=2", link("", "https://bank.test/?a=1&amp;b=2")),
        ("<b>https://bank.test/</b>", f"&lt;b&gt;{link('https://bank.test/')}&lt;/b&gt;"),
        ("javascript:alert(1) ftp://bank.test", "javascript:alert(1) ftp://bank.test"),
        ("nothing here", "nothing here"),
    ],
)
def test_an_address_is_a_link_and_the_rest_is_inert(said: str, shown: str):
    assert linked(said) == shown


def test_an_address_ends_where_a_hidden_character_begins():
    assert link("https://bank.test/a") in linked("https://bank.test/a\u202eb")
    assert "\u202e" not in linked("https://bank.test/a\u202eb")
