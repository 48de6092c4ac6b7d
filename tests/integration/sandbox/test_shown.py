"""What people read: the level, what it lacks, why there is none, limits, network, credentials."""

from dataclasses import asdict, replace
from typing import Any
from uuid import uuid4

import pytest
from django.template.loader import render_to_string

from core.board.tools import sandbox_levels
from tasks_app.contracts import Refused
from tasks_app.external import outside_only
from tasks_app.registry import contract_problem
from tasks_app.sandbox import levels
from tasks_app.sandbox.invoke import Report, function_run
from tasks_app.sandbox.shown import sandbox_shown
from tasks_app.workers import WorkerDescription, carries_now, worker_seen
from tests.integration.sandbox.conftest import act
from tests.sandbox_tools import box_keyed

WEAK = levels.Level(levels.PROCESS, ("No walls: none here.",))


@pytest.fixture
def weak(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine without user namespaces."""
    monkeypatch.setattr(levels, "level_here", lambda: WEAK)


def shown(**more) -> str:
    return render_to_string("tools/_sandbox.html", {"contract": replace(box_keyed, **more)})


def test_a_tools_page_says_level_limits_network_and_credentials():
    text = shown(network=("api.example.com:443",), credentials=("mail",))
    for word in ("walled", "400 MiB of memory", "24 processes", "api.example.com:443", "mail", "once"):
        assert word in text


def test_without_a_sandbox_the_reason_is_shown():
    text = shown(sandbox="none", sandbox_reason="It holds a socket that must stay open.")
    assert "none: in the worker itself" in text
    assert "It holds a socket" in text


def test_what_an_agent_outside_executes_has_no_walls_of_ours_and_claims_none():
    text = shown(execute=outside_only, credentials=("mail",))
    assert "runs outside: in the program that asks; Handrail puts no walls around it" in text
    for claimed in ("walled", "memory", "Network", "granted"):
        assert claimed not in text
    short = render_to_string(
        "tools/_sandbox.html", {"contract": replace(box_keyed, execute=outside_only), "short": True}
    )
    assert "runs outside" in short
    assert "<svg" not in short  # no shield


def test_none_without_a_reason_is_refused_at_registration():
    assert "sandbox_reason" in (contract_problem(replace(box_keyed, sandbox="none")) or "")
    assert "none of" in (contract_problem(replace(box_keyed, sandbox="maybe")) or "")


@pytest.mark.parametrize(
    "name", ["DATABASE_URL", "SECRET_KEY", "MAIL_API_KEY", "GIT_TOKEN", "db_password", "SENTRY_DSN", "NOT A NAME", ""]
)
def test_a_secret_is_no_variable_that_a_contract_may_name(name: str):
    assert "environment names" in (contract_problem(replace(box_keyed, environment=(name,))) or "")


def test_a_function_inside_a_function_is_refused_at_registration():
    assert "top of its module" in (contract_problem(replace(box_keyed, execute=lambda a, c: None)) or "")


def test_a_tools_page_says_what_its_workers_can_give_and_not_what_the_web_machine_can():
    whole, weaker = levels.Level(levels.NAMESPACES), levels.Level(levels.PROCESS, ("No walls: none there.",))
    both = [("old@host", weaker), ("new@host", whole)]
    text = render_to_string("tools/_sandbox.html", {"contract": box_keyed, "at_workers": both})
    assert "own process: in a process of its own, without walls" in text  # the weakest
    assert "Weaker at old@host. No walls: none there." in text
    assert "new@host" not in text
    assert "as 2 living workers say" in text
    assert sandbox_shown(replace(box_keyed, sandbox="full"), both).refusal


@pytest.mark.django_db
def test_what_a_worker_says_of_its_sandboxes_stands_in_its_row_and_comes_weakest_first():
    for name, level in (("a", levels.Level(levels.NAMESPACES)), ("b", WEAK)):
        described = WorkerDescription(
            id=str(uuid4()), name=name, host="h", pid=1, pool="prefork", code_digest="", carries=carries_with(level)
        )
        worker_seen(worker=described, keeper_pid=2, draining=False)
    assert sandbox_levels(name="box.keyed") == [("b", WEAK), ("a", levels.Level(levels.NAMESPACES))]
    assert sandbox_levels(name="box.nobody") == []


def carries_with(level: levels.Level) -> dict[str, Any]:
    return carries_now() | {"sandbox": asdict(level)}


@pytest.mark.usefixtures("weak")
def test_a_weaker_machine_says_so_and_runs_what_asks_for_no_more():
    assert "Weaker on this machine. No walls" in shown()
    outcome = act("answer", word="x")
    assert (outcome.outcome, (outcome.used or {})["level"]) == ("ok", "process")


@pytest.mark.usefixtures("weak")
def test_a_weaker_machine_runs_nothing_of_a_tool_that_wants_a_full_one():
    contract = replace(box_keyed, sandbox="full")
    assert sandbox_shown(contract).refusal
    outcome = act("answer", contract=contract)
    assert (outcome.outcome, (outcome.error or {})["code"]) == ("refused", "sandbox-missing")
    with pytest.raises(Refused):
        function_run(contract, "find", "k", until=1e12, report=Report())
