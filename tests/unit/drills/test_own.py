"""A user's own target: its class, its cells, its count; what is missing is said in words."""

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from chaos_app.drills.cells import Seen
from chaos_app.drills.evidence import TaskRecord
from chaos_app.drills.names import Fault, Klass
from chaos_app.drills.own import Own, own_cells, target_open
from chaos_app.drills.script import TASK, good
from chaos_app.drills.target import Target, target_load

RECORD: TaskRecord = good().evidence().tasks[0]
KEY = next(event.data["key"] for event in RECORD.events if event.kind == "call.intended")
SEEN = (
    Seen(boundary="E02", position="before_send", call="act"),
    Seen(boundary="E02", position="before_send", call="other"),
    Seen(boundary="E05", position="before", call="act"),
    Seen(boundary="C01", position="before", nth=1),
    Seen(boundary="C01", position="before", nth=2),
)


class Plain(Target):
    """A target whose tool is taken to be keyed."""

    klass = Klass.KEYED  # type: ignore[assignment]


def target(ledger: Any = None, **more: Any) -> Target:
    return Plain(name="mine", agent="a", tool="t", call="act", intent=lambda case: {}, ledger=ledger, **more)


def counted(entries: Iterable[Mapping[str, Any]]) -> list[tuple[str | None, str]]:
    own = Own(target=target(lambda: entries), environment={})
    return [(one.call, one.reference) for one in own.witness([RECORD]).effects]


def test_an_entry_is_tied_to_its_call_by_the_key_alone() -> None:
    assert counted([{"key": KEY, "reference": "R"}]) == [(f"{TASK}/act", "R")]


def test_what_other_cases_did_is_left_aside() -> None:
    assert counted([{"key": "hr-someone-else-1-0", "reference": "R"}]) == []


def test_a_ledger_that_fails_is_a_gap_in_the_count_and_never_a_pass() -> None:
    def broken() -> list[dict[str, str]]:
        raise ConnectionError("the test account is closed")

    found = Own(target=target(broken), environment={}).witness([RECORD])
    assert found.gaps == ("ConnectionError: the test account is closed",)


def test_where_nobody_counts_the_witness_is_absent() -> None:
    assert not Own(target=target(), environment={}).witness([RECORD]).present


def test_each_first_passage_of_the_drilled_call_is_a_case_and_the_last_one_too_in_full() -> None:
    core = {cell.id for cell in own_cells(target(), SEEN, suite="core")}
    assert "E02.before_send.keyed.kill.mine" in core
    assert "E05.commit-dropped.keyed.kill.mine" in core
    assert not any("other" in cell or "hit2" in cell or cell.startswith("E03") for cell in core)
    assert any("hit2" in cell.id for cell in own_cells(target(), SEEN, suite="full"))


def test_with_a_proxy_the_request_and_its_answer_are_places_as_well() -> None:
    made = own_cells(target(address="URL"), SEEN, suite="core")
    assert {("E03", Fault.KILL), ("E04", Fault.KILL), ("E03", Fault.ANSWER_LOST)} <= {(c.row, c.fault) for c in made}


@pytest.mark.parametrize("path", ["no_such_module:target", "json:nothing", "json:dumps"])
def test_a_target_that_cannot_be_found_is_said_in_words(path: str) -> None:
    with pytest.raises(ValueError, match=r"--target"):
        target_load(path)


def test_a_target_is_found_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("mine")
    module.it = target()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mine", module)
    assert target_load("mine:it").name == "mine"


def test_a_name_that_no_row_can_hold_is_refused_where_the_target_is_declared() -> None:
    fixed = {"agent": "a", "tool": "t", "call": "c", "intent": lambda case: {}}
    assert Target(name="n" * 40, **fixed)
    for name in ("", "n" * 41):
        with pytest.raises(ValueError, match="1 to 40 characters"):
            Target(name=name, **fixed)


def test_a_tool_that_nobody_registered_is_named() -> None:
    with pytest.raises(ValueError, match="HANDRAIL_MODULES"):
        _ = Target(name="m", agent="no.agent", tool="no.tool", call="c", intent=lambda case: {}).klass


def test_an_address_that_the_proxy_cannot_stand_before_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must be an http://"), target_open(target(address="NOBODY_SET_IT"), tmp_path):
        pass
