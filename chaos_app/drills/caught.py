"""What became of the executor that protects nothing: the control of a run, as reports and the exit code take it. Pure.

It must be caught at every place. Where it is not, the outside count, or the killing, sees nothing (H5).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chaos_app.drills.evidence import Control
from chaos_app.drills.names import Klass, Verdict


@dataclass(frozen=True, kw_only=True)
class Caught:
    """One run of that executor: where it was killed, what its tool promises, how it ended by the outside count."""

    row: str
    klass: str
    end: str

    @property
    def is_caught(self) -> bool:
        """Whether it repeated or lost an effect, as it must."""
        return self.end in {Verdict.REPEATED, Verdict.LOST}


def caught_made(controls: Mapping[tuple[str, Klass], Control]) -> tuple[Caught, ...]:
    """Return the runs of the control in the order of the table."""
    ordered = sorted(controls.items(), key=lambda one: (one[0][0], str(one[0][1])))
    return tuple(Caught(row=row, klass=str(klass), end=str(control.end)) for (row, klass), control in ordered)


def are_caught(runs: Sequence[Caught] | None) -> bool:
    """Whether every run was caught, and there was one. None: the control was not asked for, which is no failure."""
    return runs is None or (bool(runs) and all(one.is_caught for one in runs))


def caught_said(runs: Sequence[Caught]) -> str:
    """Say how often the executor was caught."""
    bad = [one for one in runs if one.is_caught]
    repeated = sum(one.end == Verdict.REPEATED for one in bad)
    words = f"{repeated} repeated, {len(bad) - repeated} lost"
    return f"The executor that protects nothing was caught in {len(bad)} of {len(runs)} runs: {words}."
