"""Which cases a report tells in full: one that went on, one that is held for a person. Pure."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from chaos_app.drills.names import Fault, Klass, Verdict
from chaos_app.drills.results import Result
from chaos_app.drills.telling import why_held
from chaos_app.drills.workers import Worker, workers_of

# Those that show most come first: an effect that is done and its answer lost; then one that is on its way.
RANK = {"E04": 0, "E03": 1, "E05": 2}


@dataclass(frozen=True, kw_only=True)
class Story:
    """One case to be told in full. ``person``: what the person reads who must decide, a sentence each."""

    title: str
    says: str
    result: Result
    person: tuple[str, ...] = ()

    @property
    def workers(self) -> tuple[Worker, ...]:
        """Who worked on it."""
        return workers_of(self.result.evidence)

    @property
    def is_compared(self) -> bool:
        """Whether a program that protects nothing did the same beside it."""
        return is_compared(self.result)


def stories(results: Sequence[Result]) -> list[Story]:
    """Return what is told in full, of cases that ended as allowed: went on, and held for a person, where there is."""
    went_on = _best(results, lambda one: one.verdict == Verdict.ONCE)
    held = _best(results, lambda one: one.verdict == Verdict.BLOCKED)
    found = []
    if went_on is not None:
        says = "What the next worker had to know stood in the record or outside, and it went on by itself."
        found.append(Story(title="One case in full: it went on by itself", says=says, result=went_on))
    if held is not None:
        what, why = why_held(held)
        says = f"Held for a person because {what}. {why}"
        found.append(
            Story(title="One case in full: it is held for a person", says=says, result=held, person=_told(held))
        )
    return found


def is_compared(result: Result) -> bool:
    """Whether a program that protects nothing did the same: not with --no-control, nor for a target of one's own."""
    return any(control.kind == "unprotected" for control in result.evidence.controls)


def _best(results: Iterable[Result], fits: Callable[[Result], bool]) -> Result | None:
    """Return the case that shows most, one with an unprotected run beside it before any other."""
    good = [one for one in results if one.as_allowed and fits(one)]
    return min(good, key=_order, default=None)


def _order(one: Result) -> tuple[bool, bool, int, int]:
    cell, classes = one.evidence.cell, list(Klass)
    return not is_compared(one), cell.fault != Fault.KILL, RANK.get(one.row, 9), classes.index(Klass(cell.klass))


def _told(result: Result) -> tuple[str, ...]:
    """Return what the record tells the person: why nobody can know, and how to look."""
    said = []
    for record in result.evidence.tasks:
        for event in record.events:
            if event.kind == "call.in_doubt":
                name, reason, check = (str(event.data.get(key) or "") for key in ("name", "reason", "check"))
                said += (
                    [f"The call {name}: {reason}", f"How to look: {check}"] if check else [f"The call {name}: {reason}"]
                )
    return tuple(dict.fromkeys(said))
