"""Names of calls: what is refused, and that no name leads out of its own task's addresses."""

from urllib.parse import unquote, urljoin
from uuid import uuid4

import pytest
from django.urls import resolve, reverse

from tasks_app.call_names import name_refusal

PAGES = ("call-settle", "call-live", "call-look-up", "call-repeat")
GOOD = ["pay", "pay/INV 1", "pay #2", "...", "a/...", ".x", "x..", "漢" * 30, "~", "a\\..\\b"]
BAD = [".", "..", "../x", "x/..", "a/./b", "a/../b", "/a", "a/", "a//b", "../../t/calls/pay"]


@pytest.mark.parametrize("name", GOOD)
def test_an_ordinary_name_is_taken(name: str):
    assert not name_refusal(name)


@pytest.mark.parametrize("name", [*BAD, "", "a\nb", "n" * 121, 7])
def test_a_name_with_an_empty_part_or_one_of_dots_is_refused(name: object):
    assert name_refusal(name)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("name", [*GOOD, *BAD, "~Li4", "~~", "~.."])
def test_whatever_was_recorded_has_an_address_that_a_browser_leaves_as_it_is_and_that_means_it(page: str, name: str):
    task = uuid4()
    address = reverse(page, args=[task, name])
    assert {".", "..", "%2e", "%2e%2e"}.isdisjoint(address.lower().split("/"))
    assert urljoin("http://here/tasks/", address) == f"http://here{address}"
    found = resolve(unquote(address))
    assert (found.url_name, found.kwargs) == (page, {"task": task, "name": name})
