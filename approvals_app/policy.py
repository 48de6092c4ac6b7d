"""Policy as a function of rules and a call: which rule decides, and what it demands. Pure: no Django.

The first rule whose condition holds decides; none: the contract's own rule. What a contract states (``asks=True``)
raises what a rule says and never lowers it. A condition that fails counts as met where the rule demands something, and
as not met where it would allow.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from approvals_app.conditions import condition_match
from approvals_app.status import EVERYONE, OnExpiry, Outcome, ReasonRule

CONTRACT = "contract"  # the name of the rule that holds where no other matches


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What must happen before a call may run. Seconds; None: the contract's own."""

    outcome: Outcome
    group: str = EVERYONE
    quorum: int = 1
    reason_rule: ReasonRule = ReasonRule.NONE
    decide_within: float | None = None
    run_within: float | None = None
    on_expiry: OnExpiry = OnExpiry.DENY
    escalate_to: str = ""
    step_up_within: float | None = None
    second_person: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One version of a rule, as policy reads it."""

    name: str
    version: int
    condition: str
    demand: Demand
    shadow: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What one rule made of a call."""

    rule: Rule
    matched: bool
    failed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The rule that decides and what it demands; ``shadows``: what rules in shadow mode would have said."""

    rule: str
    version: int
    demand: Demand
    raised: bool = False  # the contract demands more than the rule
    failed: str = ""  # why the deciding rule's condition could not be evaluated
    shadows: tuple[Tried, ...] = ()

    def kept(self, *, revision: int) -> dict[str, Any]:
        """Return the verdict as it is kept with a request and its call."""
        said: dict[str, Any] = {"rule": self.rule, "version": self.version, **_plain(self.demand)}
        said |= {"revision": revision} if revision else {}
        said |= {"raised": "by the contract"} if self.raised else {}
        said |= {"failed": self.failed} if self.failed else {}
        if self.shadows:
            said["shadow"] = [
                {"rule": s.rule.name, "version": s.rule.version, "outcome": s.rule.demand.outcome, "failed": s.failed}
                for s in self.shadows
            ]
        return said


def verdict_of(rules: Iterable[Rule], subject: Mapping[str, Any], *, states: bool, default: bool) -> Verdict:
    """Return what policy says of a call. ``states``: the contract itself asks; ``default``: its class does."""
    shadows: list[Tried] = []
    for one in rules:
        tried = rule_try(one, subject)
        if not tried.matched:
            continue
        if one.shadow:
            shadows.append(tried)
            continue
        raised = states and one.demand.outcome == Outcome.ALLOW
        demand = Demand(outcome=Outcome.ASK) if raised else one.demand
        return Verdict(
            rule=one.name,
            version=one.version,
            demand=demand,
            raised=raised,
            failed=tried.failed,
            shadows=tuple(shadows),
        )
    outcome = Outcome.ASK if states or default else Outcome.ALLOW
    return Verdict(rule=CONTRACT, version=1, demand=Demand(outcome=outcome), shadows=tuple(shadows))


def rule_try(rule: Rule, subject: Mapping[str, Any]) -> Tried:
    """Say whether a rule applies; one that cannot be evaluated applies unless it would allow."""
    match = condition_match(rule.condition, subject)
    applies = match.matched or (bool(match.failed) and rule.demand.outcome != Outcome.ALLOW)
    return Tried(rule=rule, matched=applies, failed=match.failed)


_DEFAULT = asdict(Demand(outcome=Outcome.ASK))


def _plain(demand: Demand) -> dict[str, Any]:
    """Return what differs from the plainest demand, with outcome, group and quorum always."""
    said = asdict(demand)
    always = {"outcome", "group", "quorum", "on_expiry"}
    return {name: value for name, value in said.items() if name in always or value != _DEFAULT[name]}
