"""What a report says in words about all of its cases together: covered, held and why, compared with what. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from chaos_app.drills.names import UNDECIDED, Verdict
from chaos_app.drills.results import Result
from chaos_app.drills.rows import ROWS

UNKNOWN = (
    "no program can know",
    "An attempt had begun, its answer was lost, and the tool cannot be asked. A person looks in the outside system "
    "whether it happened, and records it; the task then goes on.",
)
NO_PERMISSION = (
    "the permission is gone",
    "Nothing was sent, and the approval has expired or was taken back. A person decides how it goes on.",
)
CONTRADICTION = (
    "what is read back contradicts the answer",
    "The tool said that it was done, and the outside shows something else. Nothing is mended in silence: a person gets "
    "both.",
)
GONE, CONTRADICTED = frozenset({"A05"}), frozenset({"E10"})


@dataclass(frozen=True, kw_only=True)
class Told:
    """A count with its sentence: ``count`` of ``of``."""

    count: int
    what: str
    why: str
    of: int | None = None


def covered(results: Sequence[Result]) -> str:
    """Say how much of the table was drilled, and by what kinds of faults."""
    rows = {result.row for result in results}
    faults = Counter(str(result.evidence.cell.fault) for result in results)
    often = ", ".join(f"{count} by {fault}" for fault, count in faults.most_common(3))
    rest = len(faults) - 3
    more = f", the others by {rest} more kind{'s' if rest > 1 else ''} of fault" if rest > 0 else ""
    return f"{len(rows)} of {len(ROWS)} places, {len(results)} cases: {often}{more}."


def why_held(result: Result) -> tuple[str, str]:
    """Return why a case is held for a person, and what the person does about it."""
    if result.row in GONE:
        return NO_PERMISSION
    return CONTRADICTION if result.row in CONTRADICTED else UNKNOWN


def held(results: Sequence[Result]) -> list[Told]:
    """Return why cases are held for a person, with how many of each."""
    found = Counter(why_held(result) for result in results if result.verdict == Verdict.BLOCKED)
    reasons = (UNKNOWN, NO_PERMISSION, CONTRADICTION)
    return [Told(count=found[reason], what=reason[0], why=reason[1]) for reason in reasons if found[reason]]


def compared(results: Sequence[Result]) -> list[Told]:
    """Return what the cases were compared with, and what came of it."""
    controls = [(control, result) for result in results for control in result.evidence.controls]
    twins = [control for control, _ in controls if control.kind == "twin"]
    # One such run stands beside several cases of a place.
    runs = {repr(control.notes): control for control, _ in controls if control.kind == "unprotected"}
    naive = list(runs.values())
    bad = [control for control in naive if control.end not in {Verdict.ONCE, *UNDECIDED}]
    told = []
    if twins:
        well = sum(control.end == Verdict.ONCE for control in twins)
        why = "The same task without any fault ends as intended: what a case shows comes from the fault."
        told.append(Told(count=well, of=len(twins), what="without a fault", why=why))
    if naive:
        why = (
            "A program that only keeps a note of what is done, killed where these cases are, repeats or loses the "
            "effect: the places are dangerous. It is run for some of the places, once for each promise."
        )
        told.append(Told(count=len(bad), of=len(naive), what="without protection, repeated or lost", why=why))
    return told
