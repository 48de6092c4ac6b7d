"""A tool's declared class is tried on its target: what it does not keep is said, and kept for its page."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import BaseModel

from chaos_app.management.commands.contract import proof_store
from chaos_app.models import ToolProof
from chaos_app.proving.prove import lines, prove
from tasks_app.contracts import Absent, Answer, CallContext, Contract, Found, LookUp, Started
from tasks_app.status import EffectClass
from tests.here import HERE


class Note(BaseModel):
    text: str = "a"


class Board:
    """A target with a ledger, in a file so that a process that is killed leaves its effect."""

    def __init__(
        self, path: Path, *, dedupes: bool = False, by_arguments: bool = False, looks_act: bool = False
    ) -> None:
        self.path, self.dedupes, self.by_arguments, self.looks_act = str(path), dedupes, by_arguments, looks_act
        self._do("CREATE TABLE IF NOT EXISTS note (key TEXT, text TEXT)")

    def _do(self, statement: str, *values: str) -> list[tuple[str, str]]:
        with closing(sqlite3.connect(self.path, timeout=10)) as board, board:
            return list(board.execute(statement, values))

    def execute(self, note: Note, context: CallContext) -> Answer:
        if not (self.dedupes and self._do("SELECT key, text FROM note WHERE key = ?", context.key)):
            self._do("INSERT INTO note VALUES (?, ?)", context.key, note.text)
        return Answer(reference=context.key)

    def find(self, key: str) -> LookUp:
        if self.looks_act:
            self._do("INSERT INTO note VALUES ('looked', '')")
        column = "text" if self.by_arguments else "key"
        found = self._do(f"SELECT key, text FROM note WHERE {column} = ?", "a" if self.by_arguments else key)
        return Found(reference=found[0][0]) if found else Absent()

    def ledger(self) -> list[dict[str, str]]:
        return [{"key": key, "text": text} for key, text in self._do("SELECT key, text FROM note")]


def proof_of(board: Board, declared: str, *, looks: bool = True):
    made = Contract(
        name="board.post",
        version=1,
        arguments=Note,
        effect_class=EffectClass(declared),
        execute=board.execute,
        find=board.find if looks else None,
        lag=0.0,
        **HERE,
    )
    return prove(made, arguments=Note, ledger=board.ledger)


def test_a_target_that_removes_duplicates_shows_keyed(tmp_path):
    found = proof_of(Board(tmp_path / "b", dedupes=True), "keyed")
    assert (found.shown, found.is_true) == ("keyed", True)


def test_a_tool_that_declares_keyed_on_a_target_that_repeats_is_caught(tmp_path):
    found = proof_of(Board(tmp_path / "b"), "keyed")
    assert not found.is_true
    assert lines(found)[-1] == "The declared class is NOT true."


def test_a_target_whose_effects_carry_the_key_shows_readable(tmp_path):
    found = proof_of(Board(tmp_path / "b"), "readable")
    assert (found.shown, found.is_true) == ("readable", True)
    assert {trial.name: trial.holds for trial in found.trials}["after a cut there is one effect"]


def test_a_look_up_by_arguments_alone_would_adopt_a_siblings_effect_and_is_caught(tmp_path):
    found = proof_of(Board(tmp_path / "b", by_arguments=True), "readable")
    assert (found.shown, found.is_true) == ("opaque", False)


def test_a_keyed_target_does_not_make_a_broken_look_up_true(tmp_path):
    assert not proof_of(Board(tmp_path / "b", dedupes=True, by_arguments=True), "readable").is_true


def test_a_tool_that_declares_no_effect_and_acts_is_caught(tmp_path):
    assert not proof_of(Board(tmp_path / "b"), "none").is_true


def test_a_look_up_that_acts_is_caught(tmp_path):
    assert not proof_of(Board(tmp_path / "b", looks_act=True), "readable").is_true


def test_an_opaque_tool_that_could_be_more_is_still_true(tmp_path):
    assert proof_of(Board(tmp_path / "b"), "opaque", looks=False).is_true


class Jobs(Board):
    """A target whose work is started, and is done once somebody has asked twice after it."""

    def __init__(self, path: Path, *, dedupes: bool) -> None:
        super().__init__(path, dedupes=dedupes)
        self._do("CREATE TABLE IF NOT EXISTS asked (key TEXT)")

    def never(self, note: Note, context: CallContext) -> Answer:
        raise AssertionError("The runtime never executes a tool that starts its work.")

    def start(self, note: Note, context: CallContext) -> Started:
        return Started(handle=context.key, poll_after=0.01)

    def poll(self, handle: str) -> Answer | Started:
        self._do("INSERT INTO asked VALUES (?)", handle)
        if len(self._do("SELECT key, key FROM asked WHERE key = ?", handle)) % 2:
            return Started(handle=handle, poll_after=0.01)
        if not (self.dedupes and self._do("SELECT key, text FROM note WHERE key = ?", handle)):
            self._do("INSERT INTO note VALUES (?, 'a')", handle)
        return Answer(reference=handle)


@pytest.mark.parametrize(("dedupes", "is_true"), [(True, True), (False, False)])
def test_long_work_is_tried_as_the_runtime_does_it_started_and_asked_after(tmp_path, dedupes: bool, is_true: bool):
    jobs = Jobs(tmp_path / "b", dedupes=dedupes)
    made = Contract(
        name="jobs.run",
        version=1,
        arguments=Note,
        effect_class=EffectClass.KEYED,
        execute=jobs.never,
        start=jobs.start,
        poll=jobs.poll,
        find=jobs.find,
        lag=0.0,
        **HERE,
    )
    found = prove(made, arguments=Note, ledger=jobs.ledger)
    assert {trial.name: trial.holds for trial in found.trials}["the effect carries the key"]
    assert found.is_true is is_true


@pytest.mark.django_db
def test_the_newest_proof_of_a_tool_is_kept(tmp_path):
    proof_store(proof_of(Board(tmp_path / "b"), "keyed"))
    proof_store(proof_of(Board(tmp_path / "c", dedupes=True), "keyed"))
    kept = ToolProof.objects.get()
    assert (kept.shown, kept.is_true) == ("keyed", True)
    assert json.dumps(kept.trials)
