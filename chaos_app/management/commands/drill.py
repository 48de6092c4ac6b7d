"""``manage.py drill run``: kill workers at chosen places, count outside, judge."""

import json
import os
import secrets
import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from chaos_app.drills import place
from chaos_app.drills.options import Options, unknown_cells

REFUSED = 3


class Command(BaseCommand):
    """Runs, judges and lists drills."""

    help = "Recovery drills: if a worker dies exactly here, does the next one repeat, lose or spoil anything?"
    requires_system_checks: tuple[str, ...] = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the verbs and their options."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        run = verbs.add_parser("run", help="Run a suite, or some of its cases.")
        run.add_argument("--suite", choices=["core", "full", "soak"], default="core")
        for name in ("cell", "boundary", "position", "class", "fault", "workload"):
            run.add_argument(f"--{name}", action="append", default=[], dest=f"{name}s", metavar=name.upper())
        run.add_argument("--hit", type=int, help="only the nth passage")
        run.add_argument("--kills", type=int, help="of a soak; 100 where you say none")
        run.add_argument("--seed", type=int, default=0)
        run.add_argument("--repeat", type=int, default=1, help="each case so many times")
        run.add_argument("--side-by-side", type=int, default=0, help="cases at once")
        run.add_argument("--minutes", type=float, default=60.0, help="no case is begun after so many minutes")
        run.add_argument("--target", default="", metavar="MODULE:NAME", help="your own agent, as a Target says")
        run.add_argument("--sandbox", action="store_true", help="the built-in tools run in sandboxes")
        run.add_argument("--no-control", action="store_true", help="without the unprotected executor and planted bugs")
        for name in ("json", "junit", "html"):
            run.add_argument(f"--{name}", type=Path, metavar="FILE")
        judge = verbs.add_parser("judge", help="Judge stored evidence again.")
        judge.add_argument("evidence", type=Path, nargs="+")
        listed = verbs.add_parser("list", help="List the cases of a suite, each with the ends that are allowed.")
        listed.add_argument("--suite", choices=["core", "full"], default="core")

    def handle(self, *args: Any, **options: Any) -> None:
        """Carry out one verb; the exit code is 0 all as allowed, 1 violation, 2 inconclusive, 3 refused."""
        verb = getattr(self, f"_{options['verb']}")
        code = verb(options)
        self.stdout.flush()
        raise SystemExit(code)

    def _run(self, given: dict[str, Any]) -> int:
        from chaos_app.drills.session import drill_run
        from chaos_app.drills.walls import VARIABLE

        unknown = unknown_cells(given["cells"])
        if unknown:
            self._say(f"There is no cell {', '.join(unknown)}; manage.py drill list --suite full shows them.")
            return REFUSED
        from chaos_app.drills.permit import refusal

        if given["sandbox"]:
            os.environ[VARIABLE] = "1"
        why = "" if place.is_inside() else refusal(_options(given))
        if why:
            self._say(why)
            return REFUSED
        if not place.is_inside():
            for line in place.clean(settings.VAR_DIR / "drills"):
                self.stdout.write(line)
            self.stdout.flush()
            place.enter()
        return drill_run(_options(given), say=self._say, began=time.monotonic())

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()

    def _judge(self, given: dict[str, Any]) -> int:
        from chaos_app.drills.evidence import evidence_load
        from chaos_app.drills.judge import judge
        from chaos_app.drills.names import UNDECIDED

        worst = 0
        for path in given["evidence"]:
            for one in sorted(path.rglob("*.json")) if path.is_dir() else [path]:
                evidence = evidence_load(json.loads(one.read_text()))
                found = judge(evidence)
                self._say(f"{found.verdict:<12} {evidence.cell.id}  {found.cause}")
                undecided = 2 if found.verdict in UNDECIDED else 0
                worst = 1 if found.is_violation else max(worst, undecided) if worst != 1 else 1
        return worst

    def _list(self, given: dict[str, Any]) -> int:
        from chaos_app.drills.listing import listed

        for line in listed(given["suite"]):
            self._say(line)
        return 0


def _options(given: dict[str, Any]) -> Options:
    return Options(
        suite=given["suite"],
        cells=tuple(given["cells"]),
        workloads=tuple(given["workloads"]),
        boundaries=tuple(given["boundarys"]),
        positions=tuple(given["positions"]),
        classes=tuple(given["classs"]),
        faults=tuple(given["faults"]),
        hit=given["hit"],
        kills=given["kills"],
        seed=given["seed"] or secrets.randbelow(2**31),
        repeat=given["repeat"],
        side_by_side=given["side_by_side"],
        minutes=given["minutes"],
        control=not given["no_control"],
        target=given["target"],
        sandbox=given["sandbox"],
        json=given["json"],
        junit=given["junit"],
        html=given["html"],
    )
