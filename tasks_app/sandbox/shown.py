"""What people read about a tool's sandbox: its level here, what that lacks, limits, network, credentials."""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks_app.contracts import Contract
from tasks_app.external import outside_only
from tasks_app.sandbox.levels import NONE, OUTSIDE, Level, level_of, refusal_of
from tasks_app.sandbox.spec import Limits, Wanted

WORDS = {"namespaces": "walled", "process": "own process", NONE: "none", OUTSIDE: "runs outside"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxShown:
    """The facts, each ready to be read. ``refusal``: the tool does not run on this machine, and why.

    ``level``: the weakest of the workers that carry it, where they are known. ``weaker``: what is missing where.
    """

    level: Level
    word: str
    wanted: str
    reason: str
    refusal: str
    weaker: Sequence[str]
    workers: int
    limits: Sequence[str]
    network: Sequence[str]
    environment: Sequence[str]
    credentials: Sequence[str]

    @property
    def is_weaker(self) -> bool:
        """Whether this machine gives less than a whole sandbox to a tool that has one."""
        return bool(self.level.missing)

    @property
    def has_walls(self) -> bool:
        """Whether it has a sandbox of ours."""
        return self.level.name not in {NONE, OUTSIDE}


def sandbox_shown(contract: Contract, workers: Sequence[tuple[str, Level]] = ()) -> SandboxShown:
    """Return what a tool's page and each card show of its sandbox: as its workers say, or as it is on this machine.

    ``workers``: name and level of each, the weakest first.
    """
    if runs_outside(contract):
        return outside_shown()
    wanted = Wanted(contract.sandbox)
    level = workers[0][1] if workers and wanted != Wanted.NONE else level_of(wanted)
    private = contract.private_network
    return SandboxShown(
        level=level,
        word=WORDS[level.name],
        wanted=wanted.value,
        reason=contract.sandbox_reason,
        refusal=refusal_of(wanted, level),
        weaker=_weaker(level, workers),
        workers=len(workers),
        limits=[] if level.name == NONE else limits_words(contract.limits),
        network=[f"{one} (private addresses too)" if one in private else one for one in contract.network],
        environment=list(contract.environment),
        credentials=list(contract.credentials),
    )


def runs_outside(contract: Contract) -> bool:
    """Whether only agents outside of Handrail execute it."""
    return contract.execute is outside_only


def outside_shown() -> SandboxShown:
    """Return what is shown of a call that an agent outside executes itself, whatever its contract says of walls."""
    return SandboxShown(
        level=Level(OUTSIDE),
        word=WORDS[OUTSIDE],
        wanted=Wanted.NONE.value,
        reason="",
        refusal="",
        weaker=(),
        workers=0,
        limits=(),
        network=(),
        environment=(),
        credentials=(),
    )


def _weaker(level: Level, workers: Sequence[tuple[str, Level]]) -> list[str]:
    if not workers:
        return [f"Weaker on this machine. {one}" for one in level.missing]
    return [f"Weaker at {name}. {' '.join(one.missing)}" for name, one in workers if one.missing]


def limits_words(limits: Limits) -> list[str]:
    """Return the limits as people read them."""
    return [
        f"{_size(limits.memory)} of memory",
        f"{limits.processes} processes and threads",
        f"{limits.cpu:g} s of processor time",
        f"{_size(limits.space)} of files, {_size(limits.file)} each and {limits.files:,} in all",
        f"an answer of {_size(limits.output)}",
        f"{limits.descriptors} open files",
    ]


def _size(count: int) -> str:
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            return f"{count / size:g} {unit}"
    return f"{count} bytes"
