"""How strong a sandbox is on this machine, in words: what is missing is said, never passed over."""

import os
from dataclasses import dataclass
from functools import cache

import structlog

from tasks_app.sandbox import bubblewrap, cgroups
from tasks_app.sandbox.identity import namespace_of
from tasks_app.sandbox.spec import Wanted

log = structlog.get_logger(__name__)

NAMESPACES, PROCESS, NONE = "namespaces", "process", "none"
OUTSIDE = "outside"  # no level of ours: what an agent outside executes itself
MEANING = {
    NAMESPACES: "in namespaces of its own: no network, files or processes but those that it is given",
    PROCESS: "in a process of its own, without walls: it can read files and reach the network",
    NONE: "in the worker itself",
    OUTSIDE: "in the program that asks; Handrail puts no walls around it, and no limits",
}


@dataclass(frozen=True, slots=True)
class Level:
    """A level and what it lacks, each in a sentence."""

    name: str
    missing: tuple[str, ...] = ()

    @property
    def meaning(self) -> str:
        """Say what it is."""
        return MEANING[self.name]


@cache
def level_here() -> Level:
    """Return the strongest level of this machine, found by trying."""
    why = bubblewrap.missing()
    if why:
        return Level(PROCESS, (f"No walls: {why}.",))
    missing = []
    grouped = cgroups.groups_work()
    if not grouped:
        missing.append("Memory is limited for each process, not for all of a call together: no control groups here.")
    if os.geteuid() == 0 and namespace_of(os.getpid()) is None:
        count = "" if grouped else ", and the number of its processes is not limited"
        missing.append(f"It keeps root's number, without root's rights{count}: run workers as an ordinary user.")
    if not bubblewrap.filter_works():
        missing.append("System calls are not filtered: keyrings are in common, and sockets that no namespace parts.")
    return Level(NAMESPACES, tuple(missing))


def sandbox_level_say() -> None:
    """Log, at the start of a worker, what its sandboxes lack."""
    here = level_here()
    if here.missing:
        log.warning("sandbox_weaker", level=here.name, meaning=here.meaning, missing=list(here.missing))


def level_of(wanted: Wanted) -> Level:
    """Return the level that a contract's calls have here."""
    return Level(NONE) if wanted == Wanted.NONE else level_here()


def refusal_of(wanted: Wanted, level: Level | None = None) -> str:
    """Say why a contract that wants this cannot run at a level (None: this machine's), or an empty text."""
    if wanted != Wanted.FULL:
        return ""
    given = level or level_here()
    if not given.missing:
        return ""
    return "Its contract wants a full sandbox, which this machine cannot give. " + " ".join(given.missing)
