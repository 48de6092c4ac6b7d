"""Every page, as the table of addresses lists them: none fails over what is asked, none tells what is elsewhere."""

import re
from collections.abc import Iterator
from typing import Any

from django.test import Client
from django.urls import URLPattern, get_resolver

from core.access import Role
from tests.desk import Desk, parked
from tests.people import person

ODD = ["\x00", "nan", "9" * 30, "-1", "\u00b2", "0001-01-01T00:00"]
NAMES = (
    "q text status agent label owner tool since until parent before after at tab find time with row class verdict open"
)
NAMES += " part span days state name cell target suite check seen event step limit page rule group actor stream event"
APART = {"admin/", "api/", "static/", "second-factor/"}  # with tests of their own


def addresses(resolver: Any = None, before: str = "") -> Iterator[str]:
    for one in (resolver or get_resolver()).url_patterns:
        path = before + str(one.pattern)
        if any(path.startswith(apart) for apart in APART):
            continue
        if isinstance(one, URLPattern):
            yield f"/{path}"
        else:
            yield from addresses(one, path)


def filled(path: str, request: Any, *, word: str = "") -> str:
    def value(found: re.Match[str]) -> str:
        kind, name = found[1] or "str:", found[2]
        if kind == "uuid:":
            return str(request.task_id if name == "task" else request.pk)
        return "1" if kind == "int:" else word or request.name

    return re.sub(r"<(\w+:)?(\w+)>", value, path)


def signed_in(user: Any) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


def test_no_page_fails_over_what_it_is_asked(desk: Desk):
    request, nora = parked(desk), signed_in(person("nora", desk.workspace, *Role))
    failed = []
    for path in addresses():
        asked: list[tuple[str, dict[str, str]]] = [(filled(path, request), {})]
        asked += [(filled(path, request), dict.fromkeys(NAMES.split(), odd)) for odd in ODD]
        asked += [(filled(path, request), {name: "\x00"}) for name in ("name", "q", "text")]
        asked += [(filled(path, request, word="%00"), {})]
        failed += [(one, query) for one, query in asked if nora.get(one, query).status_code >= 500]
    assert failed == []


def test_who_belongs_elsewhere_is_told_nothing_by_any_page(desk: Desk):
    request, tobin = parked(desk), signed_in(desk.tobin)
    secrets = (request.line, str(request.task_id), str(request.pk))
    for path in addresses():
        address = filled(path, request)
        for query in ({}, {"workspace": desk.workspace.slug}):
            answer = tobin.get(address, query)
            shown = b"" if answer.streaming else answer.content
            told = shown.decode(errors="replace").replace(address, "")
            assert not any(secret in told for secret in secrets), (address, query)
