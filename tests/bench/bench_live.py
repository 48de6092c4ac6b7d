"""From a commit to the browser: one socket, and 500 of a hundred people on one busy task; memory of the web process."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bench.place import ROOT, session, spread, task_new, web_process

PEOPLE = 100
# Sockets, the goal of their 95th percentile (ms), and how many events they watch.
WATCHED = ((1, 30, 40), (500, 200, 20))
EVERY = 0.5  # seconds between two events


def figures(folder: Path) -> Iterator[dict[str, Any]]:
    """Watch a task with one socket, then with many, while it says something twice a second."""
    with web_process(folder) as (port, pid):
        for sockets, goal, events in WATCHED:
            before, began = _memory(pid), time.monotonic()
            taken, share, opened = _watched(port, sockets, events)
            yield {
                "figure": f"commit to browser, {sockets} sockets",
                "unit": "ms",
                **spread(taken, 1),
                "received": share,
                "opened_in_s": round(opened - began, 1),
                "web_mb_before": before,
                "web_mb_after": _memory(pid),
                "goal": f"p95 <= {goal}, received 1.0",
            }


def _watched(port: int, sockets: int, events: int) -> tuple[list[float], float, float]:
    """Return how long each socket waited for each event (ms), the share that came, and when all had been opened."""
    task = task_new("bench.reader", steps=1)
    told = {
        "url": f"ws://localhost:{port}/ws/tasks/{task.pk}/?timeline=1",
        "origin": f"http://localhost:{port}",
        "cookies": _cookies(sockets),
        "after": task.head_seq,
        "seconds": events * EVERY + 3,
    }
    command = [sys.executable, "-m", "tests.bench.watchers"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as watchers:
        assert watchers.stdin is not None
        assert watchers.stdout is not None
        watchers.stdin.write(json.dumps(told) + "\n")
        watchers.stdin.flush()
        assert watchers.stdout.readline().strip() == "ready"
        opened = time.monotonic()
        committed = _talk(task, events)
        seen = {int(seq): times for seq, times in json.loads(watchers.stdout.readline()).items()}
    taken = [(at - committed[seq]) * 1000 for seq, times in seen.items() if seq in committed for at in times]
    return taken, round(len(taken) / (len(committed) * sockets), 4), opened


def _talk(task: Any, events: int) -> dict[int, float]:
    """Append an event now and then; return when each was committed."""
    from core.hints import live_hint
    from tasks_app.record.append import append
    from tasks_app.record.events import SignalReceived

    committed = {}
    for number in range(events):
        done = append(stream=task.pk, events=[SignalReceived(name=f"s{number}")], actor="worker:bench")
        committed[done.head_seq] = time.time()
        live_hint(stream=task.pk, workspace=task.workspace_id, seq=done.head_seq)
        time.sleep(EVERY)
    return committed


def _cookies(sockets: int) -> list[str]:
    """Sign in each socket's person anew: a session for each."""
    from django.contrib.auth.models import User

    from core.models import Membership, Workspace

    workspace = Workspace.objects.get(slug="bench")
    people = []
    for number in range(min(PEOPLE, sockets)):
        user, _ = User.objects.get_or_create(username=f"watcher-{number}")
        Membership.objects.get_or_create(user=user, workspace=workspace, role="operator")
        people.append(user)
    return ["=".join(session(people[number % len(people)])) for number in range(sockets)]


def _memory(pid: int) -> int:
    """Return the resident memory of a process (MB)."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) // 1024
