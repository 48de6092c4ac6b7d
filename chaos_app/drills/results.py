"""The result of a run: every case judged, the planted bugs judged, one sentence, one exit code. Pure.

The judge is handed in, so that a judge that has been made blind can be shown to make a whole run inconclusive.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from chaos_app.drills.caught import Caught, are_caught
from chaos_app.drills.evidence import Evidence, evidence_digest
from chaos_app.drills.judge import Judgement, judge
from chaos_app.drills.left_out import LeftOut
from chaos_app.drills.names import UNDECIDED, Verdict
from chaos_app.drills.planted import BUGS, BY_NAME, planted

Judge = Callable[[Evidence], Judgement]
OK, VIOLATED, UNTOLD = 0, 1, 2
UNREAD = (
    "Not complete: the evidence of {} of its cases is of another version or unfit, and could not be read or kept here."
)


@dataclass(frozen=True, kw_only=True)
class Result:
    """One case with its verdict. ``repeated``: an earlier try of it did not count."""

    evidence: Evidence
    judgement: Judgement
    digest: str
    repeated: bool = False

    @property
    def id(self) -> str:
        """The cell's name."""
        return self.evidence.cell.id

    @property
    def cell(self) -> str:
        """The same, as stored cases call it."""
        return self.evidence.cell.id

    @property
    def row(self) -> str:
        """The row of the boundary table."""
        return self.evidence.cell.row

    @property
    def klass(self) -> str:
        """The class of the drilled call."""
        return str(self.evidence.cell.klass)

    @property
    def workload(self) -> str:
        """What was played."""
        return self.evidence.cell.workload

    @property
    def hit(self) -> int:
        """The passage at which the fault was."""
        return self.evidence.cell.hit

    @property
    def verdict(self) -> Verdict:
        """What became of it."""
        return self.judgement.verdict

    @property
    def as_allowed(self) -> bool:
        """Whether it ended as the table allows."""
        return self.judgement.as_allowed

    @property
    def invariants(self) -> frozenset[str]:
        """The broken ones."""
        return frozenset(broken.invariant for broken in self.judgement.broken)

    @property
    def rules(self) -> int:
        """In how many processes the resume rules were run again."""
        return len(self.evidence.rules)

    @property
    def takeover(self) -> float | None:
        """Seconds to the takeover."""
        return self.judgement.takeover

    @property
    def takeover_bound(self) -> float | None:
        """Its bound in seconds."""
        return self.judgement.takeover_bound

    @property
    def settled(self) -> float | None:
        """Seconds until the effect was settled."""
        return self.judgement.settled

    @property
    def settled_bound(self) -> float | None:
        """Its bound in seconds."""
        return self.judgement.settled_bound


@dataclass(frozen=True, kw_only=True)
class Planted:
    """A planted bug, and whether the judge found it: in the evidence made by hand, and in each run of the product."""

    bug: str
    says: str
    found: bool
    runs: int
    cause: str


@dataclass(frozen=True, kw_only=True)
class Results:
    """A whole run, judged.

    ``caught``: the runs of the executor that protects nothing; None where they were not asked for. ``unread``: how much
    evidence could not be read here. ``broke_off``: the controller ended before the run did.
    """

    run: str
    suite: str
    seed: int
    results: tuple[Result, ...]
    planted: tuple[Planted, ...]
    left_out: tuple[LeftOut, ...] = ()
    caught: tuple[Caught, ...] | None = None
    unread: int = 0
    broke_off: bool = False
    command: str = ""
    began: float = 0.0
    ended: float = 0.0
    versions: Mapping[str, str] = field(default_factory=dict)

    def of(self, *verdicts: Verdict) -> list[Result]:
        """Return the cases that ended so."""
        return [result for result in self.results if result.verdict in verdicts]

    @property
    def violations(self) -> list[Result]:
        """Return the cases that ended as the table does not allow."""
        return [result for result in self.results if result.judgement.is_violation]

    @property
    def undecided(self) -> list[Result]:
        """Return the cases that say nothing."""
        return self.of(*UNDECIDED)

    @property
    def missed(self) -> list[Planted]:
        """Return the planted bugs that the judge did not see: then nothing that it says counts (H5)."""
        return [one for one in self.planted if not one.found]

    @property
    def cut(self) -> list[LeftOut]:
        """Return the cases that were to be played and were not: the run was stopped, its time was over, or it erred."""
        return [one for one in self.left_out if one.cut]

    @property
    def is_blind(self) -> bool:
        """Whether something that must be caught was not: then nothing that the run says counts (H5)."""
        return bool(self.missed) or not self.planted or not are_caught(self.caught)

    @property
    def is_complete(self) -> bool:
        """Whether all that was to be played was played, read and could be told."""
        return not (self.undecided or self.cut or self.unread or self.broke_off or not self.results)

    @property
    def exit_code(self) -> int:
        """0 all as allowed; 1 a violation is proven; 2 not complete, inconclusive, or what must be caught was not."""
        if self.violations:
            return VIOLATED
        return OK if self.is_complete and not self.is_blind else UNTOLD

    @property
    def sentence(self) -> str:
        """Return the result in one sentence."""
        fired = [result for result in self.results if result.verdict not in UNDECIDED]
        good = sum(result.judgement.as_allowed for result in fired)
        held, unfired = len(self.of(Verdict.BLOCKED)), len(self.of(Verdict.NOT_FIRED))
        parts = [f"{good} of {len(fired)} cases that fired end as allowed", f"{held} held for a person, by design"]
        parts += [f"{unfired} never fired"]
        untold = len(self.of(Verdict.INCONCLUSIVE))
        parts += [f"{untold} cannot be told"] if untold else []
        parts += [f"{len(self.cut)} not played"] if self.cut else []
        found = sum(one.found for one in self.planted)
        parts += [f"planted bugs found {found} of {len(self.planted)}"]
        if not are_caught(self.caught):
            runs = self.caught or ()
            parts += [f"unprotected runs caught {sum(one.is_caught for one in runs)} of {len(runs)}"]
        return "; ".join(parts) + "."

    @property
    def summary(self) -> str:
        """Return what the run means, in one sentence."""
        if self.violations:
            return f"Something is wrong: {_cases(len(self.violations))} did not end as allowed."
        if self.missed or not self.planted:
            return "Nothing can be concluded: the judge did not find every planted bug."
        if not are_caught(self.caught):
            return "Nothing can be concluded: the executor that protects nothing was not caught everywhere."
        if not self.results:
            return "Nothing was run."
        if not self.is_complete:
            return self._missing()
        return "Every fault that was tried is safe: nothing was repeated, lost or spoiled."

    def _missing(self) -> str:
        if self.unread:
            return UNREAD.format(self.unread)
        missing = [f"{_cases(len(self.undecided))} cannot be told"] if self.undecided else []
        missing += [f"{_cases(len(self.cut))} not played"] if self.cut else []
        return f"Not complete: {', '.join(missing) or 'the run broke off'}."


def _cases(count: int) -> str:
    return "one case" if count == 1 else f"{count} cases"


def results_make(
    evidence: Sequence[Evidence],
    *,
    run: str,
    suite: str,
    seed: int,
    bugs: Sequence[Evidence] = (),
    left_out: Sequence[LeftOut] = (),
    caught: Sequence[Caught] | None = None,
    unread: int = 0,
    broke_off: bool = False,
    command: str = "",
    versions: Mapping[str, str] | None = None,
    judged_by: Judge = judge,
) -> Results:
    """Judge all cases of a run, and the judge. ``bugs``: runs of the product with a bug built in on purpose."""
    results = [_result(one, judged_by) for one in evidence if not one.planted_bug]
    counted = _counted(results)
    moments = [(one.evidence.began, one.evidence.ended) for one in results]
    return Results(
        run=run,
        suite=suite,
        seed=seed,
        results=tuple(counted),
        planted=planted_judged([*bugs, *(one for one in evidence if one.planted_bug)], judged_by),
        left_out=tuple(left_out),
        caught=None if caught is None else tuple(caught),
        unread=unread,
        broke_off=broke_off,
        command=command,
        began=min((began for began, _ in moments), default=0.0),
        ended=max((ended for _, ended in moments), default=0.0),
        versions=dict(versions or (results[0].evidence.versions if results else {})),
    )


def _result(evidence: Evidence, judged_by: Judge) -> Result:
    return Result(evidence=evidence, judgement=judged_by(evidence), digest=evidence_digest(evidence))


def _counted(results: Sequence[Result]) -> list[Result]:
    """Leave aside a try that said nothing and was repeated; a violation counts whatever the repeat says."""
    again = {result.id: result.evidence.repeat for result in sorted(results, key=lambda r: r.evidence.repeat)}
    counted = []
    for result in results:
        last = again[result.id]
        if result.verdict in UNDECIDED and result.evidence.repeat < last:
            continue
        counted.append(replace(result, repeated=result.evidence.repeat > 0))
    return counted


def planted_judged(runs: Sequence[Evidence], judged_by: Judge) -> tuple[Planted, ...]:
    """Judge the evidence made by hand for each bug, and every run of the product with that bug."""
    made = {one.planted_bug: one for one in planted()}
    found = []
    for bug in BUGS:
        real = [run for run in runs if run.planted_bug == bug.name]
        judged = [judged_by(one) for one in [made[bug.name], *real]]
        named = {b.invariant for b in judged[0].broken} & BY_NAME[bug.name].breaks
        found.append(
            Planted(
                bug=bug.name,
                says=bug.says,
                found=bool(named) and all(one.is_violation for one in judged),
                runs=len(real),
                cause=judged[-1].cause,
            )
        )
    return tuple(found)
