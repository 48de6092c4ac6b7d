"""One launch from beginning to end, in the controller's process: the ground, the run, the report, the exit code."""

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import psycopg
from django.conf import settings
from django.db import Error as DatabaseError

from chaos_app.drills import place
from chaos_app.drills.caught import caught_made, caught_said
from chaos_app.drills.ground import ground_stand
from chaos_app.drills.journal import Journal, named
from chaos_app.drills.options import Options
from chaos_app.drills.report import report_html, report_json, report_junit
from chaos_app.drills.results import Results, results_make
from chaos_app.drills.runner import Run
from chaos_app.drills.target import Target, target_load, workload_of_target
from chaos_app.drills.versions import versions
from chaos_app.drills.wide import CREW, workers_ended
from chaos_app.drills.with_stack import end_with_stack
from tasks_app.registry import modules_load

BUGS = 3  # processes of the worker with planted bugs
UNUSABLE = 3


def drill_run(options: Options, *, say: Callable[[str], None], began: float) -> int:
    """Run; return the exit code of drills: 0 all as allowed, 1 a violation, 2 undecided, 3 unusable."""
    folder: Path = settings.VAR_DIR
    command = _command(sys.argv[1:], options.seed)
    journal = Journal(folder, {"run": os.environ[place.RUN], "suite": options.suite, "seed": options.seed})
    folder.mkdir(parents=True, exist_ok=True)
    journal.begin(command, versions())
    end_with_stack()
    journal.say(selection=_selection(options))
    say(f"Suite {options.suite}, seed {options.seed}; evidence goes to {folder / 'evidence'}")
    try:
        with ExitStack() as stack:
            run = _stand(stack, folder, options, journal, say, _target(options))
            say(f"{time.monotonic() - began:.0f} s: ready; each workload runs once without a fault.")
            run.discover()
            say(f"{time.monotonic() - began:.0f} s: {sum(map(len, run.found.values()))} passages over boundaries.")
            run.play()
            return _end(run, command, say, began)
    except (OSError, TimeoutError, RuntimeError, ValueError, DatabaseError, psycopg.Error) as error:
        journal.end("failed", named(error))
        say(f"Unusable: {error}")
        return UNUSABLE


def _command(words: list[str], seed: int) -> str:
    """Return what runs the same again: with its seed, which may have been drawn."""
    is_said = any(word == "--seed" or word.startswith("--seed=") for word in words)
    return " ".join(["manage.py", *words, *([] if is_said else ["--seed", str(seed)])])


def _target(options: Options) -> Target | None:
    """Load a user's own target, with the agents and tools that its package registers. Raises ValueError."""
    if not options.target:
        return None
    modules_load()
    return target_load(options.target)


def _stand(
    stack: ExitStack,
    folder: Path,
    options: Options,
    journal: Journal,
    say: Callable[[str], None],
    target: Target | None,
) -> Run:
    stack.enter_context(place.tidied(folder))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    side_by_side = options.at_once(cores)
    is_full = options.suite == "full"
    ground = stack.enter_context(
        ground_stand(
            folder,
            say=say,
            workers=CREW * workers_ended(options.suite),  # while some are being replaced, as many others are there
            concurrency=side_by_side // 2 if is_full else side_by_side * 3 // 4,
            bugs=BUGS if options.control else 0,
            target=target,
        )
    )
    own = workload_of_target(target) if target is not None else None
    run = Run(ground, options, journal, say, side_by_side, own=own)
    stack.callback(run.close)
    timer = threading.Timer(options.minutes * 60, run.stopped.set)
    timer.daemon = True
    timer.start()
    stack.callback(timer.cancel)
    return run


def _selection(options: Options) -> dict[str, object]:
    names = {"cells", "workloads", "boundaries", "positions", "classes", "faults"}
    names |= {"hit", "kills", "repeat", "target", "sandbox"}
    return {name: value for name, value in asdict(options).items() if name in names}


def _end(run: Run, command: str, say: Callable[[str], None], began: float) -> int:
    left = [*run.left_out(), *run.unbuilt, *run.skipped]
    run.journal.left_out(left)
    caught = caught_made(run.caught) if run.options.control else None
    run.journal.say(caught=None if caught is None else [asdict(one) for one in caught])
    results = results_make(
        run.evidence,
        run=run.journal.about["run"],
        suite=run.options.suite,
        seed=run.options.seed,
        bugs=run.bugs,
        left_out=left,
        caught=caught,
        command=command,
        versions=run.versions,
    )
    _write(results, run.options)
    for one in [*run.unbuilt, *run.skipped]:
        say(f"left out  {one.row} {one.position} {one.klass} {one.fault}: {one.reason}")
    for bug in results.planted:
        say(f"{'found ' if bug.found else 'MISSED'}  {bug.bug} ({bug.runs} runs): {bug.cause}")
    say(caught_said(caught)) if caught else None
    say(results.sentence)
    say(f"{results.summary} {time.monotonic() - began:.0f} s.")
    run.journal.end("stopped" if run.stopped.is_set() else "ended", results.sentence)
    return results.exit_code


def _write(results: Results, options: Options) -> None:
    for path, write in ((options.json, report_json), (options.junit, report_junit), (options.html, report_html)):
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(write(results))
