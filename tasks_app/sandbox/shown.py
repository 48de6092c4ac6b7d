"""What people read about a tool's sandbox: its level here, what that lacks, limits, network, credentials."""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks_app.contracts import Contract
from tasks_app.sandbox.levels import NONE, Level, level_of, refusal_of
from tasks_app.sandbox.spec import Limits, Wanted

WORDS = {"namespaces": "walled", "process": "own process", NONE: "none"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxShown:
    """The facts, each ready to be read. ``refusal``: the tool does not run on this machine, and why."""

    level: Level
    word: str
    wanted: str
    reason: str
    refusal: str
    limits: Sequence[str]
    network: Sequence[str]
    credentials: Sequence[str]

    @property
    def is_weaker(self) -> bool:
        """Whether this machine gives less than a whole sandbox to a tool that has one."""
        return bool(self.level.missing)


def sandbox_shown(contract: Contract) -> SandboxShown:
    """Return what a tool's page and each card show of its sandbox, as it is on this machine."""
    wanted = Wanted(contract.sandbox)
    level = level_of(wanted)
    private = contract.private_network
    return SandboxShown(
        level=level,
        word=WORDS[level.name],
        wanted=wanted.value,
        reason=contract.sandbox_reason,
        refusal=refusal_of(wanted),
        limits=[] if level.name == NONE else limits_words(contract.limits),
        network=[f"{one} (private addresses too)" if one in private else one for one in contract.network],
        credentials=list(contract.credentials),
    )


def limits_words(limits: Limits) -> list[str]:
    """Return the limits as people read them."""
    return [
        f"{_size(limits.memory)} of memory",
        f"{limits.processes} processes and threads",
        f"{limits.cpu:g} s of processor time",
        f"{_size(limits.space)} of files, {_size(limits.file)} each",
        f"an answer of {_size(limits.output)}",
        f"{limits.descriptors} open files",
    ]


def _size(count: int) -> str:
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            return f"{count / size:g} {unit}"
    return f"{count} bytes"
