"""Two runs side by side: which cases ended otherwise, which took longer, which only one of them has."""

from dataclasses import dataclass

from chaos_app.models import DrillCase, DrillRun
from chaos_app.selectors.runs import cases_counted
from core.models import Workspace

SLOWER, AT_LEAST = 1.5, 1.0  # times as long, and by so many seconds: less is noise


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One case in both runs; None where a run does not have it."""

    cell: str
    before: DrillCase | None
    now: DrillCase | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What differs. ``same``: how many cases ended alike, and about as fast."""

    other_end: tuple[Pair, ...]
    slower: tuple[Pair, ...]
    only_one: tuple[Pair, ...]
    same: int


def run_before(run: DrillRun) -> DrillRun | None:
    """Return the newest earlier run of the same suite that has ended."""
    ended = DrillRun.objects.filter(workspace=run.workspace_id, suite=run.suite, state="ended", pk__lt=run.pk)
    return ended.order_by("-pk").first()


def compared(before: DrillRun, now: DrillRun) -> Compared:
    """Compare the cases that count."""
    old, new = ({case.cell: case for case in cases_counted(run)} for run in (before, now))
    pairs = [Pair(cell=cell, before=old.get(cell), now=new.get(cell)) for cell in sorted(old.keys() | new.keys())]
    other_end = tuple(pair for pair in pairs if _ends(pair) == 2)
    slower = tuple(pair for pair in pairs if _ends(pair) == 1 and _is_slower(pair))
    only_one = tuple(pair for pair in pairs if not _ends(pair))
    same = len(pairs) - len(other_end) - len(slower) - len(only_one)
    return Compared(other_end=other_end, slower=slower, only_one=only_one, same=same)


def _ends(pair: Pair) -> int:
    """Return in how many ways a case ended; 0 where only one run has it."""
    return 0 if pair.before is None or pair.now is None else len({pair.before.verdict, pair.now.verdict})


def _is_slower(pair: Pair) -> bool:
    times = (pair.before.takeover, pair.now.takeover) if pair.before and pair.now else (None, None)
    if times[0] is None or times[1] is None:
        return False
    return times[1] > SLOWER * times[0] and times[1] - times[0] > AT_LEAST


def runs_to_compare(*, workspace: Workspace, run: DrillRun, most: int = 12) -> list[DrillRun]:
    """Return the other runs that have ended, the newest first."""
    ended = DrillRun.objects.filter(workspace=workspace, state__in=("ended", "stopped")).exclude(pk=run.pk)
    return list(ended.exclude(suite="guided").order_by("-pk")[:most])
