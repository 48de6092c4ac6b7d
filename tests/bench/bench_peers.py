"""A step without effect beside the same step in two peers, on the same server, in turn.

The peers live in an environment of their own (``make peers``); without it the line says so.
"""

import os
import statistics
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg

from core.embedded import postgres
from tests.bench.place import ROOT, slices_here, task_new

PYTHON = ROOT / ".venv-peers" / "bin" / "python"
STEPS, ROUNDS = 200, 5
GOALS = {"absurd": 1.1, "dbos": 3.0}


def figures(folder: Path) -> Iterator[dict[str, Any]]:
    """Run ours and each peer in turn, a fresh database for each run of a peer."""
    if not PYTHON.exists():
        yield {"figure": "step without effect, beside peers", "left_out": "`make peers` installs the peers"}
        return
    ours: list[float] = []
    theirs: dict[str, list[float]] = {peer: [] for peer in GOALS}
    for nth in range(ROUNDS):
        ours.append(_ours())
        for peer in GOALS:
            theirs[peer].append(_peer(peer, f"peer_{peer}_{nth}"))
    for peer, goal in GOALS.items():
        ratios = [mine / other for mine, other in zip(ours, theirs[peer], strict=True)]
        yield {
            "figure": f"step without effect, beside {peer}",
            "unit": "steps/s, one task, one process",
            "value": round(statistics.median(ours)),
            peer: round(statistics.median(theirs[peer])),
            "ratio": round(statistics.median(ratios), 2),
            "goal": f"ratio >= {goal}",
        }


def _ours() -> float:
    task = task_new("bench.reader", steps=STEPS)
    with slices_here() as run:
        started = time.perf_counter()
        run(task.pk)
        return STEPS / (time.perf_counter() - started)


def _peer(peer: str, database: str) -> float:
    url = os.environ["DATABASE_URL"]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{database}"')
    target = url.replace("/handrail?", f"/{database}?")
    path = f"{postgres.binary('psql').parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [PYTHON, str(Path(__file__).with_name("peer_steps.py")), peer, target, str(STEPS)],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout.split()[-1])
