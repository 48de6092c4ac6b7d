"""S12: the resume rules, asked again about stored evidence in five fresh processes, say the same."""

import json
from dataclasses import replace
from pathlib import Path

from chaos_app.drills.evidence import evidence_dump
from chaos_app.drills.judge import judge
from chaos_app.drills.names import Klass, Verdict
from chaos_app.drills.rules import PROCESSES, digest_of, moves, rules_asked
from chaos_app.drills.script import Script, good


def died() -> Script:
    return Script(Klass.READABLE).claim().plan().attempt().arrive().die().claim()


def test_the_rules_are_asked_whenever_somebody_takes_the_task_up() -> None:
    said = moves(died().evidence().tasks[0])
    assert [line.split()[1] for line in said] == ["act", "act"]
    assert all("Do.WAIT" in line or "Do.LOOK_UP" in line for line in said), said


def test_five_fresh_processes_say_the_same_of_each_file(tmp_path: Path) -> None:
    for name, evidence in (("one", good().evidence()), ("two", died().evidence())):
        (tmp_path / f"{name}.json").write_text(json.dumps(evidence_dump(evidence)))
    found = rules_asked(tmp_path)
    assert found.keys() == {"one.json", "two.json"}
    assert all(len(digests) == len(PROCESSES) and len(set(digests)) == 1 for digests in found.values())
    assert found["two.json"][0] == digest_of(died().evidence())


def test_another_answer_in_one_process_is_a_violation() -> None:
    evidence = replace(good().evidence(), rules=("a", "a", "b", "a", "a"))
    judged = judge(evidence)
    assert judged.verdict == Verdict.WRONG
    assert "another process" in judged.cause
