"""What nobody sends by mistake is refused in clear words: it ends no process and comes to no error of ours."""

import json
from typing import Any

from django.test import Client

from core.access import Right
from tests.desk import Desk, rule
from tests.integration.approvals_app.test_api import ALL, client_of


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


def test_no_rule_is_tried_on_arguments_that_no_call_could_have(desk: Desk):
    rule(desk, "any", "arguments.a == 1")
    vera = client_of(desk, desk.vera, Right.APPROVALS_READ)
    tried = {"tool": "desk.clean", "arguments": deep(200)}
    said = vera.post(f"{ALL}/policy/try", tried, content_type="application/json")
    assert said.status_code == 422
    assert "nested deeper than 64 levels" in said.json()["detail"]


def test_the_page_of_rules_refuses_them_as_well(desk: Desk, client: Client):
    rule(desk, "any", "arguments.a == 1")
    client.force_login(desk.vera)
    page = client.get("/approvals/rules/", {"tool": "desk.clean", "arguments": json.dumps(deep(200))})
    assert (page.status_code, page.context["trial"]) == (200, None)
    assert "64 levels deep in each other" in page.content.decode()
