"""One figure for operators, as the applications tell it: a name, its help, its values by label."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A gauge that is read when it is asked for. ``values``: the labels' values, in the order of ``labels``."""

    name: str
    help: str
    labels: Sequence[str] = ()
    values: Mapping[tuple[str, ...], float]


def number(name: str, help: str, value: float) -> Figure:
    """Return a figure without labels."""
    return Figure(name=name, help=help, values={(): value})
