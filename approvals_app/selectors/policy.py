"""The rules that hold in a workspace, and what they say of a call."""

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from approvals_app.costs import Cost, call_cost
from approvals_app.models import PolicyBook, PolicyRule
from approvals_app.policy import Demand, Rule, Tried, Verdict, rule_try, verdict_of
from approvals_app.status import OnExpiry, Outcome, ReasonRule
from core.clock import database_now
from core.errors import InvalidInput, NotFound
from core.models import Workspace
from tasks_app import registry
from tasks_app.contracts import Contract
from tasks_app.models import Task
from tasks_app.record.prepare import check_arguments
from tasks_app.record.stored import masker
from tasks_app.status import EffectClass

FRESH = 1.0  # seconds for which a process asks calls by the rules that it has read; T1 never does
LONGEST_PLACE = 120  # characters of the way to a field, which a sender can make as long as the field is deep


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules of a workspace in order, and the revision of its policy."""

    revision: int
    rules: tuple[Rule, ...]


_known: dict[UUID, tuple[float, Rules]] = {}
_lock = threading.Lock()


def rules_remembered(workspace: UUID) -> Rules:
    """Return the rules as of at most a second ago: a call that asks nobody costs no query of its own."""
    now = time.monotonic()
    found = _known.get(workspace)
    if found is not None and now - found[0] < FRESH:
        return found[1]
    rules = rules_now(workspace)
    with _lock:
        _known[workspace] = (now, rules)
    return rules


def rules_forget() -> None:
    """Let this process read the rules again."""
    with _lock:
        _known.clear()


def revision_now(workspace: UUID) -> int:
    """Return how often the policy has changed; 0: never."""
    return PolicyBook.objects.filter(workspace=workspace).values_list("revision", flat=True).first() or 0


def rules_now(workspace: UUID) -> Rules:
    """Return the rules that hold now. The revision is read first: a change in between is met again in T1."""
    revision = revision_now(workspace)
    rows = PolicyRule.objects.filter(workspace=workspace, retired_at=None).order_by("position", "name")
    return Rules(revision=revision, rules=tuple(map(rule_of, rows)) if revision else ())


def rule_of(row: PolicyRule) -> Rule:
    """Return a row as policy reads it."""
    demand = Demand(
        outcome=Outcome(row.outcome),
        group=row.group,
        quorum=row.quorum,
        reason_rule=ReasonRule(row.reason_rule),
        decide_within=row.decide_within,
        run_within=row.run_within,
        on_expiry=OnExpiry(row.on_expiry),
        escalate_to=row.escalate_to,
        step_up_within=row.step_up_within,
        second_person=row.second_person,
    )
    return Rule(name=row.name, version=row.version, condition=row.condition, demand=demand, shadow=row.shadow)


def subject_of(
    *,
    contract: Contract,
    arguments: Mapping[str, Any],
    agent: str,
    labels: Mapping[str, Any],
    cost: Cost,
    at: datetime,
) -> dict[str, Any]:
    """Return what conditions speak of."""
    return {
        "tool": contract.name,
        "contract": {
            "version": contract.version,
            "effect_class": str(contract.effect_class),
            "risk": contract.risk,
            "asks": contract.needs_person,
            "reversible": contract.reversible,
            "sandbox": str(contract.sandbox),
        },
        "arguments": dict(arguments),
        "agent": agent,
        "labels": dict(labels),
        "risk": contract.risk,
        "time": at,
        **cost.subject(),
    }


def task_subject(
    rules: Rules, task: Task, contract: Contract, arguments: Mapping[str, Any], cost: Cost | None = None
) -> dict[str, Any]:
    """Return what conditions speak of for a call of a task; nothing where no rule would read it.

    ``cost``: where the caller knows it already.
    """
    if not rules.rules:
        return {}
    timed = any("time" in rule.condition for rule in rules.rules)  # the database's clock is a round trip
    return subject_of(
        contract=contract,
        arguments=arguments,
        agent=task.agent,
        labels=task.labels,
        cost=cost or call_cost(contract, arguments),
        at=database_now() if timed else task.created_at,
    )


def verdict_for(rules: Rules, contract: Contract, subject: Mapping[str, Any]) -> Verdict:
    """Return what these rules say of a call of that contract."""
    default = contract.asks is None and contract.effect_class == EffectClass.OPAQUE
    return verdict_of(rules.rules, subject, states=contract.asks is True, default=default)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What the test box shows: the verdict, what each rule made of the call, in order, and what the call costs."""

    verdict: Verdict
    cost: Cost
    tried: Sequence[Tried]


def policy_try(
    *,
    workspace: Workspace,
    tool: str,
    arguments: Mapping[str, Any],
    agent: str = "",
    labels: Mapping[str, Any] | None = None,
    extra: Sequence[Rule] = (),
) -> Trial:
    """Say which rule would decide such a call, and change nothing. ``extra``: rules not yet written, asked first.

    Raises NotFound for a tool that this process does not carry, InvalidInput for arguments that no call could have.
    """
    contract = registry.tool_newest(tool)
    if contract is None:
        raise NotFound(f"This process carries no tool {tool!r}; set HANDRAIL_MODULES for it.")
    if problems := check_arguments(arguments, masker=masker(), exempt=contract.exempt):
        raise InvalidInput(
            f"No call could have these arguments: {problems[0].field[:LONGEST_PLACE]}: {problems[0].reason}.",
            errors=[{"field": one.field[:LONGEST_PLACE], "reason": one.reason} for one in problems],
        )
    held = rules_now(workspace.pk)
    rules = Rules(revision=held.revision, rules=(*extra, *held.rules))
    cost = call_cost(contract, arguments)  # its contract's word, as for a real call: no other would ever be compared
    subject = subject_of(
        contract=contract, arguments=arguments, agent=agent, labels=labels or {}, cost=cost, at=database_now()
    )
    tried = [rule_try(rule, subject) for rule in rules.rules]
    return Trial(verdict=verdict_for(rules, contract, subject), cost=cost, tried=tried)


def rules_of(*, workspaces: Sequence[UUID], retired: bool = False) -> list[PolicyRule]:
    """List the rules that hold, in the order in which they are asked; with ``retired`` every version of each."""
    rows = PolicyRule.objects.filter(workspace__in=workspaces).select_related("workspace")
    if not retired:
        rows = rows.filter(retired_at=None)
    return list(rows.order_by("workspace__slug", "position", "name", "-version"))
