"""S12: the resume rules decide the same on the same facts in any process, whatever its hash seed or clock zone."""

import os
import pickle
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

from tasks_app.resume import CallFacts
from tasks_app.status import OPEN, EffectClass, Status
from tests.processes import ROOT

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
DECIDE = """
import pickle, sys
from tasks_app.resume import decide
facts, now = pickle.load(sys.stdin.buffer)
for one in facts:
    print(decide(one, now))
"""


def every_kind_of_call() -> list[CallFacts]:
    found = []
    choices = product(sorted(OPEN), EffectClass, [Status.RUNNING, Status.PAUSED, Status.CANCELLING], [0, 1, 5])
    for state, effect, status, attempts in choices:
        for find, late, first in product([False, True], [-9.0, 9.0], [False, True]):
            found.append(
                CallFacts(
                    state=state,
                    effect_class=effect,
                    status=status,
                    attempts=attempts,
                    first_attempt_at=NOW - timedelta(seconds=60) if attempts else None,
                    deadline=NOW + timedelta(seconds=late) if attempts else None,
                    has_find=find,
                    has_read_back=find,
                    maybe_applied=late > 0,
                    look_first=first,
                )
            )
    return found


def test_five_fresh_processes_decide_the_same(tmp_path: Path) -> None:
    given = pickle.dumps((every_kind_of_call(), NOW))
    answers = set()
    for seed, zone in zip("01234", ["UTC", "Asia/Tokyo", "America/New_York", "Europe/Berlin", "UTC"], strict=True):
        environment = os.environ | {"PYTHONHASHSEED": seed, "TZ": zone, "PYTHONPATH": str(ROOT)}
        answer = subprocess.run(
            [sys.executable, "-c", DECIDE], input=given, capture_output=True, env=environment, cwd=tmp_path, timeout=60
        )
        assert answer.returncode == 0, answer.stderr.decode()
        answers.add(answer.stdout)
    assert len(answers) == 1
    assert answers.pop().count(b"Move(") == len(every_kind_of_call())
