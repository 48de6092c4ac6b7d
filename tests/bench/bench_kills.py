"""Whether a sandbox outlives its worker: SIGKILL at random moments, of workers and of single processes of their pools.

``HANDRAIL_KILLS`` says how many (20), ``HANDRAIL_SEED`` from which seed. A process of the pool is killed three times as
often as a whole worker, which takes longer to start anew.
"""

import os
import random
import signal
import time
from collections.abc import Collection, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.bench.place import percentile, sweeper_start, task_new, wait_until, worker_start
from tests.processes import alive, pool_processes

WITHIN = 1.0  # seconds in which all must be gone
PATIENCE = 5.0  # seconds in which what is late is still waited for
MOMENTS = 2.0  # seconds over which the moments are spread
EVERY = 4  # of so many kills one is of the whole worker
CALLS = 60  # of each task; two are created before each kill


@dataclass(slots=True)
class Counts:
    """What came of the kills. Times in seconds, from the kill until all was gone."""

    ran: int = 0
    late: int = 0
    stayed: int = 0
    times: dict[str, list[float]] = field(default_factory=lambda: {"worker": [], "process of its pool": []})


def figures(folder: Path) -> Iterator[dict[str, Any]]:
    """Kill, look, count."""
    kills = int(os.environ.get("HANDRAIL_KILLS", "20"))
    seed = int(os.environ.get("HANDRAIL_SEED", "1"))
    chance, counts = random.Random(seed), Counts()
    with ExitStack() as stack:
        sweeper_start(stack, folder)
        worker = None
        for number in range(kills):
            if worker is None:
                worker = worker_start(stack, folder, f"killed-{number}")
            whole = number % EVERY == EVERY - 1
            _killed(worker.pid, whole, chance, counts)
            worker = None if whole else worker
    yield _figure(counts, seed)


def _figure(counts: Counts, seed: int) -> dict[str, Any]:
    each = [one for times in counts.times.values() for one in times]
    return {
        "figure": f"processes of sandboxes alive {WITHIN:.0f} s after a SIGKILL of what had started them",
        "unit": "processes",
        "value": counts.late,
        "of": counts.ran,
        "stayed": counts.stayed,
        "kills": {kind: len(times) for kind, times in counts.times.items()},
        "gone_ms": {"p50": round(percentile(each, 0.5) * 1000), "most": round(max(each) * 1000)},
        "seed": seed,
        "goal": "0",
    }


def _killed(worker: int, whole: bool, chance: random.Random, counts: Counts) -> None:
    """Let it work for a moment, kill it or one process of its pool, and count what stays."""
    for _ in range(2):
        task_new("bench.boxer", steps=CALLS)
    wait_until(lambda: _inside(_makers(pool_processes(worker))))
    time.sleep(chance.uniform(0.0, MOMENTS))
    busy = wait_until(lambda: [pid for pid in pool_processes(worker) if _inside(_makers([pid]))])
    pids = pool_processes(worker) if whole else [chance.choice(sorted(busy))]
    makers = _makers(pids)
    seen = _inside(makers)
    os.kill(worker if whole else min(pids), signal.SIGKILL)
    began = time.monotonic()
    took, late, stayed = _watched(makers, pids, seen, began)
    counts.ran += len(seen)
    counts.late += late
    counts.stayed += stayed
    counts.times["worker" if whole else "process of its pool"].append(took)


def _watched(makers: set[bytes], pids: Collection[int], seen: set[int], began: float) -> tuple[float, int, int]:
    """Return after how long all was gone, how many processes were late, and how many stayed (they are ended here)."""
    late: set[int] = set()
    while left := {pid for pid in seen | _inside(makers) if alive(pid)} | {pid for pid in pids if alive(pid)}:
        took = time.monotonic() - began
        if took > WITHIN:
            late |= left - set(pids)
        if took > PATIENCE:
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return took, len(late), len(left)
        time.sleep(0.01)
    return time.monotonic() - began, len(late), 0


def _makers(pids: Collection[int]) -> set[bytes]:
    """Return under which names these processes start sandboxes."""
    from tasks_app.sandbox.orphans import MARK, began

    return {f"{MARK}:{pid}:{began(pid)}".encode() for pid in pids}


def _inside(makers: set[bytes]) -> set[int]:
    """Return the processes of all sandboxes that were started under these names."""
    from tasks_app.sandbox.used import family

    found: set[int] = set()
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (path / "cmdline").read_bytes().partition(b"\0")[0] in makers:
                found.update(family(int(path.name)))
    return found
