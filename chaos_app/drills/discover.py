"""Discovery: each workload once without a fault. What it crosses is what can be drilled; its end is the twin's."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from chaos_app.drills.barrier import Crossed
from chaos_app.drills.case import Case
from chaos_app.drills.catalogue import Workload
from chaos_app.drills.cells import Seen
from chaos_app.drills.evidence import Control, Evidence, evidence_digest
from chaos_app.drills.left_out import LeftOut
from chaos_app.drills.names import Fault, Klass, Verdict

Key = tuple[str, Klass]


def passages(crossed: Iterable[Crossed]) -> tuple[Seen, ...]:
    """Return the passages of a run, numbered among those of the same boundary, position and call."""
    counts: Counter[tuple[str, str, str | None]] = Counter()
    found = []
    for one in crossed:
        at = (str(one.report.boundary), str(one.report.position), one.report.call)
        counts[at] += 1
        found.append(Seen(boundary=at[0], position=at[1], call=at[2], nth=counts[at]))
    return tuple(found)


Found = Mapping[Key, Sequence[Seen]]
# Messages are hints: how often one comes, and is looked at, is chance even where it is the same in two runs.
HINTS = frozenset({"B02", "L01", "W02"})


# Into how many work sessions a person's pause cuts a task is chance as well.
SESSIONS, PAUSED = frozenset({"L02", "L03", "C02"}), frozenset({"steered"})


def _is_sure(workload: str, seen: Seen) -> bool:
    by_chance = HINTS | SESSIONS if workload in PAUSED else HINTS
    return seen.nth == 1 or seen.boundary not in by_chance


def steady(first: Found, second: Found) -> dict[Key, tuple[Seen, ...]]:
    """Return the passages that both of two runs had: what comes by chance cannot be waited for. Pure."""
    return {
        key: tuple(seen for seen in passed if _is_sure(key[0], seen) and seen in set(second.get(key, ())))
        for key, passed in first.items()
    }


def unsteady(first: Found, second: Found) -> tuple[LeftOut, ...]:
    """Return the passages that one of two runs had, as left out. Pure."""
    found = []
    for (workload, klass), passed in first.items():
        one, other = set(passed), set(second.get((workload, klass), ()))
        for seen in sorted((one ^ other) | {seen for seen in one if not _is_sure(workload, seen)}, key=_order):
            which = f"passage {seen.nth}{f' of {seen.call}' if seen.call else ''}"
            reason = f"Without a fault, {workload} comes here in some runs only ({which})."
            place, killed = (seen.boundary, seen.position), str(Fault.KILL)
            found.append(LeftOut(row=place[0], position=place[1], klass=str(klass), fault=killed, reason=reason))
    return tuple(found)


def _order(seen: Seen) -> tuple[str, str, str, int]:
    return seen.boundary, seen.position, seen.call or "", seen.nth


def control_of(evidence: Evidence) -> Control:
    """Return a run without the fault as what other runs are compared with."""
    effects = Counter((one.call or "/").rpartition("/")[2] for one in evidence.witness.effects if not one.planted)
    return Control(
        kind="twin",
        end=end_of(evidence),
        statuses={task.role: task.status for task in evidence.tasks},
        effects=dict(effects),
        witness=evidence.witness,
        digest=evidence_digest(evidence),
    )


def unlike(evidence: Evidence, end: Verdict) -> str:
    """Return how a run without a fault ended that did not end as declared, and what it waits for, in one sentence."""
    told = [f"the {one.role} is {one.status}{_waits_for(one.wait)}" for one in evidence.tasks] or ["there is no task"]
    return f"Without a fault, {evidence.cell.workload} ({evidence.cell.klass}) ended {end}: {', '.join(told)}."


def _waits_for(wait: Mapping[str, Any] | None) -> str:
    if not wait:
        return ""
    on = wait.get("on")
    named = ", ".join(map(str, on)) if isinstance(on, list) else on
    return f" for {wait.get('kind')}{f' of {named}' if named else ''}"


def end_of(evidence: Evidence) -> Verdict:
    """Return how a run without a fault ended: ONCE or NONE, as declared, or else what is wrong with it."""
    expected = evidence.expected
    statuses = {task.role: task.status for task in evidence.tasks}
    if not evidence.quiet or statuses != dict(expected.statuses):
        return Verdict.STUCK if not evidence.quiet else Verdict.WRONG
    return expected.end


def longest_wait(evidence: Evidence) -> float:
    """Return for how long a task that was due waited for a worker (seconds): what the machine can do right now."""
    waited = [0.0]
    for task in evidence.tasks:
        claimed = [event.at for event in task.events if event.kind == "slice.claimed"]
        waited += [claimed[0] - task.events[0].at] if claimed else []
    return max(waited)


def wanted(workloads: Iterable[Workload], keys: Iterable[Key] | None = None) -> list[tuple[Workload, Klass]]:
    """Return each workload with each class that it has."""
    chosen = set(keys) if keys is not None else None
    pairs = [(workload, klass) for workload in workloads for klass in workload.classes]
    return [(one, klass) for one, klass in pairs if chosen is None or (one.name, klass) in chosen]


def play(pool: ThreadPoolExecutor, cases: Iterable[Case]) -> None:
    """Run cases side by side until all have ended."""
    for done in [pool.submit(case.run) for case in cases]:
        done.result()
