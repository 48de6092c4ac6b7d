"""The resume rules asked again, in fresh processes, about what each case has stored (S12): they must say the same.

``python -m chaos_app.drills.rules FOLDER`` prints one digest a file. No Django, no database: record and world's answers
are in the evidence.
"""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from chaos_app.drills.evidence import Evidence, TaskRecord, evidence_load
from chaos_app.drills.limits import LAG, TIMEOUT
from chaos_app.drills.tally import facts_of
from tasks_app.record.reducer import State, apply
from tasks_app.record.reducing_calls import Row
from tasks_app.resume import CallFacts, decide
from tasks_app.status import OPEN, EffectClass

# Another hash seed and another time zone in each: neither may matter.
PROCESSES = (("0", "UTC"), ("1", "Asia/Tokyo"), ("2", "America/New_York"), ("3", "Europe/Berlin"), ("4", "UTC"))
WITHIN = 120.0  # seconds
ASKED = frozenset({"slice.claimed", "slice.lost"})  # moments at which somebody takes the task up


def moves(record: TaskRecord) -> list[str]:
    """Return what the rules say of each open call whenever somebody took the task up. Pure."""
    state, said = State(), []
    for fact in facts_of(record):
        apply(state, fact)
        if fact.kind in ASKED:
            open_calls = [(name, call) for name, call in sorted(state.calls.items()) if call["state"] in OPEN]
            said += [f"{fact.seq} {name} {decide(_facts(call, state), fact.at)}" for name, call in open_calls]
    return said


def _facts(call: Row, state: State) -> CallFacts:
    has_find = call["effect_class"] == EffectClass.READABLE
    return CallFacts(
        state=call["state"],
        effect_class=EffectClass(call["effect_class"]),
        status=state.status,
        attempts=call["attempts"],
        first_attempt_at=call["first_attempt_at"],
        deadline=call["deadline"],
        timeout=TIMEOUT,
        lag=LAG,
        has_find=has_find,
        has_read_back=call["effect_class"] not in {EffectClass.OPAQUE, EffectClass.NONE},
        look_ups=call["look_ups"],
        maybe_applied=call["maybe_applied"],
        look_first=call["look_first"],
    )


def digest_of(evidence: Evidence) -> str:
    """Return the SHA-256 (hex) of all that the rules say about a case. Pure."""
    said = [line for record in evidence.tasks for line in (record.role, *moves(record))]
    return hashlib.sha256("\n".join(said).encode()).hexdigest()


def rules_asked(folder: Path) -> Mapping[str, tuple[str, ...]]:
    """Ask in five fresh processes; return the digests by file name. What a process cannot say is left out."""
    answers = [_hear(process) for process in [_start(folder, *how) for how in PROCESSES]]
    return {name: tuple(answer[name] for answer in answers if name in answer) for name in answers[0]}


def _start(folder: Path, seed: str, zone: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "chaos_app.drills.rules", str(folder)]
    environment = os.environ | {"PYTHONHASHSEED": seed, "TZ": zone}
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)


def _hear(process: "subprocess.Popen[bytes]") -> dict[str, str]:
    try:
        output, _ = process.communicate(timeout=WITHIN)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return {}
    found: dict[str, str] = json.loads(output) if process.returncode == 0 else {}
    return found


def main(folder: str) -> None:
    """Print the digests of a folder of evidence."""
    files = sorted(Path(folder).glob("*.json"))
    print(json.dumps({path.name: digest_of(evidence_load(json.loads(path.read_text()))) for path in files}))


if __name__ == "__main__":
    main(*sys.argv[1:])
