"""What a run writes into its folder while it runs: whoever shows it reads these files and needs nothing else.

``run.json`` says what it is and how it stands; ``progress.jsonl`` one line a stage; ``evidence/`` and ``planted/`` the
cases; ``left-out.json`` what was not run. A file ``stop`` there asks the run to end and to clean up.
"""

import getpass
import json
import os
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from chaos_app.drills.cells import Seen
from chaos_app.drills.evidence import Evidence, Mark, evidence_dump
from chaos_app.drills.left_out import LeftOut
from chaos_app.drills.names import Klass

TOKEN = "HANDRAIL_DRILL_TOKEN"  # noqa: S105 - ties the folder to the launch on a page; no secret


@dataclass(eq=False)
class Journal:
    """The files of one run. Its methods may be called from any thread."""

    folder: Path
    about: dict[str, Any]
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, command: str, versions: Mapping[str, str]) -> None:
        """Say that the run has begun."""
        for name in ("evidence", "planted"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self.about = {
            **self.about,
            "token": os.environ.get(TOKEN, ""),
            "state": "running",
            "why": "",
            "began": time.time(),
            "ended": None,
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "user": _user(),
            "command": command,
            "versions": dict(versions),
            "cells": [],
        }
        self.say()

    def say(self, **changes: Any) -> None:
        """Write ``run.json`` anew."""
        with self._lock:
            self.about |= changes
            _replace(self.folder / "run.json", self.about)

    def end(self, state: str, why: str) -> None:
        """Say how it ended: ended, stopped, failed."""
        self.say(state=state, why=why, ended=time.time())

    def progress(self, cell: str, mark: Mark, worker: str | None) -> None:
        """Add a stage of a case."""
        line = {"at": mark.at, "cell": cell, "stage": str(mark.stage), "what": mark.what, "worker": worker}
        line |= {"epoch": mark.epoch, "pid": mark.pid}
        with self._lock, (self.folder / "progress.jsonl").open("a") as stream:
            stream.write(json.dumps(line) + "\n")

    def keep(self, name: str, evidence: Evidence) -> None:
        """Keep the evidence of a case."""
        folder = self.folder / ("planted" if evidence.planted_bug else "evidence")
        _replace(folder / f"{name}.json", evidence_dump(evidence))

    def left_out(self, cells: Sequence[LeftOut]) -> None:
        """Keep what was not run, and why."""
        _replace(self.folder / "left-out.json", [asdict(one) for one in cells])

    def discovered(self, found: Mapping[tuple[str, Klass], Sequence[Seen]]) -> None:
        """Keep what the workloads crossed without a fault."""
        lines = [
            {"workload": name, "class": str(klass), "passages": [asdict(one) for one in passages]}
            for (name, klass), passages in found.items()
        ]
        _replace(self.folder / "discovered.json", lines)

    def is_asked_to_stop(self) -> bool:
        """Whether somebody wants the run to end."""
        return (self.folder / "stop").exists()


def _user() -> str:
    """Return who the operating system says is running this; its number where it has no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def _replace(path: Path, content: Any) -> None:
    """Write a file whole: a reader never sees half of it."""
    fresh = path.with_name(f".{path.name}.{threading.get_ident()}")
    fresh.write_text(json.dumps(content, default=str))
    fresh.replace(path)


def named(error: Exception) -> str:
    """Return an error's kind and first line."""
    return f"{type(error).__name__}: {error}".splitlines()[0]
