"""The places of the table that a run did not drill, each with the reason. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from chaos_app.drills.cells import OUTSIDE
from chaos_app.drills.left_out import LeftOut, class_why_not
from chaos_app.drills.options import PLAIN
from chaos_app.drills.row import Row
from chaos_app.drills.rows import EFFECTS, ROWS

# What narrows a run down to a part of its suite.
NARROWING = frozenset({"--cell", "--boundary", "--position", "--class", "--fault", "--workload", "--hit"})
EVERY = "every"


@dataclass(frozen=True, kw_only=True)
class Undrilled:
    """One place that no case of the run was at. ``suite``: which drills it, "" where none does."""

    row: str
    title: str
    why: str
    suite: str


def undrilled(rows: set[str], left_out: Sequence[LeftOut], *, suite: str, command: str) -> list[Undrilled]:
    """Return the places that are not among the drilled ``rows``. ``command``: by which the run was begun."""
    told = [(row, _why(row, left_out, suite=suite, command=command)) for row in ROWS if row.id not in rows]
    return [Undrilled(row=row.id, title=row.title, why=why, suite=_suite(row)) for row, why in told]


def squares_why(row: Row) -> dict[str, str]:
    """Return why a row has no case for a class of tools: class -> reason; those that it has are not in it."""
    return {str(klass): class_why_not(row, klass) for klass in EFFECTS if klass not in row.classes}


def _suite(row: Row) -> str:
    return "core" if row.core else "full"


def _why(row: Row, left_out: Sequence[LeftOut], *, suite: str, command: str) -> str:
    """Say why: what the run itself said first, then what was asked of it, then what its suite is for."""
    mine = [one for one in left_out if one.row == row.id and EVERY in {one.klass, one.fault}]
    stopped = [one for one in left_out if one.row == row.id and one not in mine]
    words = set(command.split())
    if stopped:
        return stopped[0].reason
    if words & NARROWING:
        return "Not asked for: the run was narrowed down to some cases."
    if "--target" in words:
        return "The agent that was drilled does not come by there, or it is no place of its call."
    if suite == "soak":
        return _not_drawn(row)
    if suite == "core" and not row.core:
        return row.beside
    return " ".join(dict.fromkeys(one.reason for one in mine)) or "None of its cases was played."


def _not_drawn(row: Row) -> str:
    if row.told or row.id in OUTSIDE:
        return "A soak kills where the code passes by itself; here the outside must hold, or spoil, an answer first."
    if row.positions and any(name in PLAIN for name in row.workloads):
        return "The places of a soak are drawn by chance, and this one was not drawn."
    return "A soak draws from what its three plain workloads pass; this is a situation, or another workload's place."
