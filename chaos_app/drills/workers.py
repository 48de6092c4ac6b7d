"""Who worked on a case: each process that took its task, under a letter, in the order in which they came. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from chaos_app.drills.evidence import Evidence, Mark
from chaos_app.drills.landed import mark_of
from chaos_app.drills.names import Stage


@dataclass(frozen=True, kw_only=True)
class Worker:
    """One process. ``leases``: the numbers of those that it held; ``end``: what the fault did to it, "" for nothing."""

    label: str
    name: str
    host: str
    pid: int | None
    leases: tuple[int, ...]
    end: str = ""

    def __str__(self) -> str:
        """Return it as a report has it: "worker-1@drill, process 4711 on h; lease no. 1; killed by SIGKILL"."""
        numbers = ", ".join(str(lease) for lease in self.leases)
        where = f" on {self.host}" if self.host else ""
        held = f"lease{'s' if len(self.leases) > 1 else ''} no. {numbers}"
        return "; ".join(part for part in (f"{self.name}, process {self.pid or '?'}{where}", held, self.end) if part)


def workers_of(evidence: Evidence) -> tuple[Worker, ...]:
    """Return each process that took a task of the case, the first that came first."""
    held: dict[tuple[str, str, int | None], list[int]] = {}
    claims = [event for record in evidence.tasks for event in record.events if event.kind == "slice.claimed"]
    for claim in sorted(claims, key=lambda event: event.at):
        who = str(claim.data.get("worker", "")), str(claim.data.get("host", "")), claim.data.get("pid")
        leases = held.setdefault(who, [])
        leases += [claim.epoch] if claim.epoch and claim.epoch not in leases else []
    return tuple(
        Worker(
            label=_label(at), name=who[0], host=who[1], pid=who[2], leases=tuple(mine), end=_end(evidence, who[2], mine)
        )
        for at, (who, mine) in enumerate(held.items())
    )


def _label(at: int) -> str:
    more, letter = divmod(at, len(ascii_uppercase))
    return ascii_uppercase[letter] + (str(more + 1) if more else "")


def _end(evidence: Evidence, pid: int | None, leases: Sequence[int]) -> str:
    """Say what a fault did to a process: how it ended, as its parent told, or else which fault it was."""
    for log in evidence.faults:
        landed, reached = mark_of(log, Stage.LANDED), mark_of(log, Stage.REACHED)
        if landed is not None and _met(landed, reached, pid, leases):
            return landed.exit_status or f"met by the fault: {log.fault}"
    return ""


def _met(landed: Mark, reached: Mark | None, pid: int | None, leases: Sequence[int]) -> bool:
    struck = landed.pid or (reached.pid if reached else None)
    return struck == pid if struck and pid else landed.epoch is not None and landed.epoch in leases
