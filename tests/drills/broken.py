"""The product, broken on purpose: a copy of this checkout with one guarantee taken out, and the drill that must see it.

``python -m tests.drills.broken [WORDS ...]`` plays those whose name contains one of WORDS, or all (some ten minutes).
Exit 0: each was seen, in the right cases, with a sentence that names the cause.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.drills.mutations import MUTATIONS, Mutation, Seen
from tests.processes import ROOT

COPIED = ("core", "tasks_app", "approvals_app", "chaos_app", "templates", "static", "manage.py", "pyproject.toml")
VIOLATED = 1
LONGEST = 300  # seconds of one drill


def main(words: list[str]) -> int:
    """Play what was asked for; returns the exit code."""
    chosen = [one for one in MUTATIONS if not words or any(word in one.name for word in words)]
    if not chosen:
        names = "\n  ".join(one.name for one in MUTATIONS)
        print(f"No way to break it is called {' '.join(words)}; there are:\n  {names}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="hb-") as folder:
        tree = Path(folder) / "tree"
        copied(tree)
        missed = [one.name for one in chosen if not _is_seen(one, tree, Path(folder))]
    print(f"{len(chosen) - len(missed)} of {len(chosen)} ways to break it were seen.")
    return 1 if missed else 0


def copied(tree: Path) -> None:
    """Copy what a drill needs."""
    tree.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, tree / name)


def broken(mutation: Mutation, tree: Path) -> dict[Path, str]:
    """Take the guarantee out of a copy; returns the files as they were. Raises ValueError where a text is not there."""
    before: dict[Path, str] = {}
    for edit in mutation.edits:
        path = tree / edit.file
        text = path.read_text()
        before.setdefault(path, text)
        if text.count(edit.old) != 1:
            raise ValueError(f"{mutation.name}: {edit.file} has {text.count(edit.old)} times {edit.old!r}")
        path.write_text(text.replace(edit.old, edit.new))
    return before


def _is_seen(mutation: Mutation, tree: Path, folder: Path) -> bool:
    began = time.monotonic()
    before = broken(mutation, tree)
    try:
        wrong = list(_missing(mutation, *_drilled(mutation, tree, folder)))
    finally:
        for path, text in before.items():
            path.write_text(text)
    print(f"{'MISSED' if wrong else 'seen  '}  {mutation.name}  {time.monotonic() - began:.0f} s", flush=True)
    for line in wrong:
        print(f"    {line}", flush=True)
    return not wrong


def _drilled(mutation: Mutation, tree: Path, folder: Path) -> tuple[int, dict[str, dict[str, Any]], str]:
    """Run the cases that must see it; returns exit code, cases by id, and what was said."""
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DATABASE", "REDIS"))}
    environment = kept | {"HANDRAIL_VAR": str(folder / "var"), "DJANGO_SETTINGS_MODULE": "core.settings"}
    chosen = [word for seen in mutation.seen for word in ("--cell", seen.cell)]
    command = [sys.executable, "manage.py", "drill", "run", "--no-control", "--seed", "1", *chosen]
    done = subprocess.run(
        [*command, "--json", str(report)],
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )
    cases = json.loads(report.read_text())["cases"] if report.exists() else []
    return done.returncode, {case["id"]: case for case in cases}, done.stdout + done.stderr


def _missing(mutation: Mutation, code: int, cases: dict[str, dict[str, Any]], said: str) -> Iterator[str]:
    if code != VIOLATED:
        yield f"exit {code}, not {VIOLATED}: {said[-1500:]}"
    for seen in mutation.seen:
        case = cases.get(seen.cell)
        if case is None:
            yield f"{seen.cell} was not played"
        elif not _fits(seen, case):
            yield f"{seen.cell} says {case['verdict']}: {case['cause']} (wanted {seen.verdict}: {seen.says})"
        else:
            print(f"    {seen.cell}: {case['verdict']}: {case['cause']}", flush=True)


def _fits(seen: Seen, case: dict[str, Any]) -> bool:
    return case["verdict"] == seen.verdict and not case["as_allowed"] and seen.says in case["cause"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
