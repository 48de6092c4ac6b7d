"""Writing policy: each change is a new version of a rule, said in the administration stream."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F

from approvals_app.conditions import BadCondition, condition_check
from approvals_app.models import ApproverGroup, PolicyBook, PolicyRule
from approvals_app.policy import CONTRACT, Demand, Rule
from approvals_app.selectors.policy import rule_of, rules_forget
from approvals_app.status import EVERYONE, OnExpiry, Outcome
from core.clock import database_now
from core.errors import InvalidInput, NotFound
from core.models import Workspace
from tasks_app.record.append import append_administration
from tasks_app.record.events import PolicyChanged

RESERVED = {CONTRACT, "run again", "no means no"}


def rule_write(
    *,
    workspace: Workspace,
    name: str,
    condition: str,
    demand: Demand,
    actor: str,
    position: int = 100,
    shadow: bool = False,
) -> PolicyRule:
    """Write a rule, or the next version of the one of that name; it holds for calls that are intended from now on.

    Calls that were approved, or let run, under what held before are compared with it before they first run. Raises
    InvalidInput with ``errors`` (field, reason; a mistake in the condition by line and column).
    """
    errors = rule_mistakes(workspace=workspace, name=name, condition=condition, demand=demand)
    if errors:
        raise InvalidInput("The rule cannot be used as it is; nothing was changed.", errors=errors)
    with transaction.atomic():
        _turn(workspace)
        before = PolicyRule.objects.filter(workspace=workspace, name=name, retired_at=None).first()
        versions = PolicyRule.objects.filter(workspace=workspace, name=name).values_list("version", flat=True)
        version = max(versions, default=0) + 1
        PolicyRule.objects.filter(workspace=workspace, name=name, retired_at=None).update(retired_at=database_now())
        new = PolicyRule.objects.create(
            workspace=workspace,
            name=name,
            version=version,
            position=position,
            condition=condition,
            shadow=shadow,
            written_by=actor.removeprefix("person:"),
            **asdict(demand),
        )
        _record(workspace, actor, f"rule {name}", before=_facts(before), after=_facts(new))
    rules_forget()
    return new


def rule_retire(*, workspace: Workspace, name: str, actor: str) -> None:
    """Let a rule hold no more; its versions stay, for whoever asks what decided then. Raises NotFound."""
    with transaction.atomic():
        _turn(workspace)
        row = PolicyRule.objects.filter(workspace=workspace, name=name, retired_at=None).first()
        if row is None:
            raise NotFound(f"No rule {name!r} holds here.")
        PolicyRule.objects.filter(pk=row.pk).update(retired_at=database_now())
        _record(workspace, actor, f"rule {name}", before=_facts(row), after=None)
    rules_forget()


def group_set(*, workspace: Workspace, name: str, members: Iterable[User], actor: str) -> ApproverGroup:
    """Say who belongs to a group, making it where it is new. Approvals that no longer have their quorum do not run.

    Raises InvalidInput for the name that stands for everyone.
    """
    if name == EVERYONE:
        raise InvalidInput(f"{EVERYONE!r} stands for everyone with the right to decide; choose another name.")
    with transaction.atomic():
        group, new = ApproverGroup.objects.get_or_create(workspace=workspace, name=name)
        before = [] if new else sorted(group.members.values_list("username", flat=True))
        group.members.set(members)
        after = sorted(group.members.values_list("username", flat=True))
        if new or before != after:
            _record(workspace, actor, f"group {name}", before=None if new else before, after=after)
    return group


def rule_mistakes(*, workspace: Workspace, name: str, condition: str, demand: Demand) -> list[dict[str, Any]]:
    """Return what is wrong with a rule, field by field; empty where it can be used."""
    errors: list[dict[str, Any]] = []
    if not name.strip() or name in RESERVED:
        errors.append({"field": "name", "reason": "Choose another name: it is kept with what the rule decides."})
    try:
        condition_check(condition)
    except BadCondition as bad:
        errors += [
            {"field": "condition", "reason": str(one), "line": one.line, "column": one.column} for one in bad.mistakes
        ]
    if demand.outcome == Outcome.ASK:
        errors += _group_mistakes(workspace, demand)
    seconds = ("decide_within", "run_within", "step_up_within")
    values = [(name, getattr(demand, name)) for name in seconds]
    wrong = [name for name, given in values if given is not None and given <= 0]
    errors += [{"field": name, "reason": "Seconds, more than 0."} for name in wrong]
    return errors


def _group_mistakes(workspace: Workspace, demand: Demand) -> list[dict[str, Any]]:
    errors = []
    for field in ("group", "escalate_to"):
        named = getattr(demand, field)
        if named and named != EVERYONE and not ApproverGroup.objects.filter(workspace=workspace, name=named).exists():
            errors.append({"field": field, "reason": f"There is no group {named!r} here."})
    if demand.on_expiry == OnExpiry.ESCALATE and not demand.escalate_to:
        errors.append({"field": "escalate_to", "reason": "Name the group that is asked when nobody decides in time."})
    if demand.on_expiry == OnExpiry.ESCALATE and demand.escalate_to == demand.group:
        errors.append({"field": "escalate_to", "reason": "That is the group that was asked already."})
    members = ApproverGroup.objects.filter(workspace=workspace, name=demand.group).values_list("members", flat=True)
    if not errors and demand.group != EVERYONE and members.exclude(members=None).count() < demand.quorum:
        errors.append({"field": "quorum", "reason": f"{demand.group!r} has fewer members than that."})
    return errors


def _turn(workspace: Workspace) -> None:
    """Raise the revision: whoever changes policy at the same time waits here."""
    PolicyBook.objects.get_or_create(workspace=workspace)
    PolicyBook.objects.filter(workspace=workspace).update(revision=F("revision") + 1)


def _facts(row: PolicyRule | None) -> dict[str, Any] | None:
    if row is None:
        return None
    rule: Rule = rule_of(row)
    facts = asdict(rule.demand) | {"version": row.version, "condition": row.condition}
    return facts | {"position": row.position, "shadow": row.shadow}


def _record(workspace: Workspace, actor: str, what: str, *, before: Any, after: Any) -> None:
    event = PolicyChanged(what=what, before=before, after_change=after)
    append_administration(workspace=workspace.pk, events=[event], actor=actor)
