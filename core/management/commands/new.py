"""``manage.py new agent NAME``: an agent of one's own, whole and tested, outside of this repository."""

import argparse
import re
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

EXAMPLE = "own_agent"
NAME = re.compile(r"[a-z][a-z0-9]*(\.[a-z][a-z0-9_]*)+")


class Command(BaseCommand):
    """Copies the example under another name: agent, tool with look-up, criteria, test, drill target."""

    help = "Write an agent, a tool with look-up, criteria, a test and a drill target under a name of yours."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare what, which name, where."""
        parser.add_argument("what", choices=["agent"])
        parser.add_argument("name", help="what it is called: a noun and a verb, like invoice.chase")
        parser.add_argument("--into", type=Path, help="folder to write into (default: here, or beside this repository)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the files and say what to do with them."""
        name, into = str(options["name"]), _folder(options["into"])
        if not NAME.fullmatch(name):
            raise CommandError(
                f"{name!r} is no name for an agent: take words of a-z and 0-9 with dots between, like invoice.chase."
            )
        package = name.replace(".", "_")
        if (into / package).exists():
            raise CommandError(f"{into / package} exists already; nothing was written. Take another name, or --into.")
        for source in sorted((settings.BASE_DIR / "examples" / EXAMPLE).glob("*.py")):
            _write(source, into / package, name)
        self.stdout.write(_next_steps(into, package, name))


def _folder(given: Path | None) -> Path:
    """Return where to write: users' code lives outside of the repository."""
    here, base = Path.cwd(), Path(settings.BASE_DIR)
    chosen = given or (base.parent if here.resolve().is_relative_to(base.resolve()) else here)
    return chosen.resolve()


def _write(source: Path, folder: Path, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / renamed(source.name, name)
    target.write_text(renamed(source.read_text(), name))


def renamed(text: str, name: str) -> str:
    """Return the example's text with its names replaced by those of the agent ``name``. Pure."""
    package, noun = name.replace(".", "_"), name.split(".")[0]
    pairs = {"own_agent": package, "OWN_AGENT": package.upper(), "own.agent": name, "own.post": f"{noun}.post"}
    pairs["own-agent"] = name.replace(".", "-")
    for old, new in pairs.items():
        text = text.replace(old, new)
    return text


def _next_steps(into: Path, package: str, name: str) -> str:
    return "\n".join(
        [
            f"Wrote {into / package}: agent.py, tool.py, criteria.py, target.py, drill.py, test_{package}.py.",
            "From this repository's folder:",
            f"  PYTHONPATH={into}:. .venv/bin/python -m unittest {package}.test_{package}",
            f"  PYTHONPATH={into} HANDRAIL_MODULES={package} .venv/bin/python manage.py check",
            f"  PYTHONPATH={into} HANDRAIL_MODULES={package} .venv/bin/python manage.py up",
            f"  PYTHONPATH={into} HANDRAIL_MODULES={package} "
            f".venv/bin/python manage.py drill run --target {package}.drill:target",
            f"Then start a task of {name} on the pages, or by POST /api/v1/tasks. Begin with agent.py.",
        ]
    )
