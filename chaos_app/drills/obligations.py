"""The results under the names of the published resume contract (arXiv 2608.03836). Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from chaos_app.drills.copies import is_of_copy
from chaos_app.drills.matrix import Outcome
from chaos_app.drills.names import UNDECIDED


@dataclass(frozen=True, kw_only=True)
class Obligation:
    """One obligation. ``holds`` None: no case of this run shows it. ``cases``: those that show it, or break it."""

    name: str
    means: str
    holds: bool | None
    cases: tuple[str, ...]
    broken: tuple[str, ...] = ()

    @property
    def word(self) -> str:
        """Passed, failed, or not tried."""
        return {True: "passed", False: "failed", None: "not tried"}[self.holds]


@dataclass(frozen=True, kw_only=True)
class _Rule:
    name: str
    means: str
    invariants: frozenset[str]
    rows: tuple[str, ...] = ()  # whose cases show it; empty: all cases do
    needs_rules: bool = False
    of_copies: bool = False  # only those in which a copy died


RULES = (
    _Rule(
        name="Prefix continuation",
        means="The next worker goes on at the step after the last one that was settled; no step is decided twice.",
        invariants=frozenset({"S8"}),
    ),
    _Rule(
        name="Effects exactly once",
        means="No effect is there twice in the outside count, and none is missing of what the record calls done.",
        invariants=frozenset({"S1", "S6"}),
    ),
    _Rule(
        name="Fork determinism",
        means="A copy is a task of its own: new calls, keys, approvals. A resume is none: it keeps its calls and keys.",
        invariants=frozenset({"S9"}),
        of_copies=True,
    ),
    _Rule(
        name="Checkpoint validity",
        means="A checkpoint covers only calls that are settled, and is written with what it covers.",
        invariants=frozenset({"S8", "S5"}),
        rows=("C01", "C02", "E08", "L03"),
    ),
    _Rule(
        name="Consume once",
        means="An approval is decided once and used at most once, whoever takes it up.",
        invariants=frozenset({"S3", "S4"}),
        rows=("A02", "A03", "A04", "A05", "A06", "R03"),
    ),
    _Rule(
        name="Recovery determinism",
        means="The resume rules decide the same in every process that reads the same record.",
        invariants=frozenset({"S12"}),
        needs_rules=True,
    ),
)


def obligations(results: Sequence[Outcome]) -> tuple[Obligation, ...]:
    """Return the six obligations with the cases that show each."""
    return tuple(_one(rule, results) for rule in RULES)


def _one(rule: _Rule, results: Sequence[Outcome]) -> Obligation:
    broken = [r.cell for r in results if set(r.invariants) & rule.invariants]
    shown = [r.cell for r in results if _shows(rule, r)]
    holds = False if broken else True if shown else None
    return Obligation(name=rule.name, means=rule.means, holds=holds, cases=tuple(shown), broken=tuple(broken))


def _shows(rule: _Rule, result: Outcome) -> bool:
    if result.verdict in UNDECIDED or (rule.needs_rules and result.rules < 2):
        return False
    if rule.of_copies and not is_of_copy(result.workload, result.hit):
        return False
    return not rule.rows or result.row in rule.rows
