"""Has policy become stricter since a call was approved or allowed? Asked in T1 where it has changed at all (rule 5)."""

from datetime import datetime, timedelta

from approvals_app.deciders import counted
from approvals_app.models import ApprovalAnswer, ApprovalRequest
from approvals_app.moments import Using
from approvals_app.policy import Demand, Verdict
from approvals_app.selectors.policy import revision_now, rules_now, task_subject, verdict_for
from approvals_app.selectors.record import event_whole, intended_of
from approvals_app.status import Outcome
from tasks_app.contracts import Contract
from tasks_app.models import Event, Task


def stricter_reason(*, task: Task, request: ApprovalRequest, contract: Contract, moment: Using) -> str:
    """Say what policy demands by now that the approval does not meet, or an empty text.

    The call is judged by the rules as they are in this transaction; where nothing has changed since it was asked for,
    that is one look at a number.
    """
    if moment.revision == request.policy.get("revision", 0):
        return ""
    rules = rules_now(request.workspace_id)
    arguments = intended_of(request)["arguments"]
    verdict = verdict_for(rules, contract, task_subject(rules, task, contract, arguments))
    unmet = _unmet(verdict.demand, task, request, moment.now)
    return f"policy became stricter: {unmet} (rule {_named(verdict)})" if unmet else ""


def allowed_reason(*, task: Task, intended: Event, contract: Contract) -> str:
    """Say what policy demands by now of a call that it let run by itself, or an empty text.

    ``intended``: the call's ``call.intended``. Nobody has answered for such a call: whatever demands an answer is not
    met. Where nothing has changed since it was intended, that is one look at a number.
    """
    if revision_now(task.workspace_id) == (intended.data.get("policy") or {}).get("revision", 0):
        return ""
    rules = rules_now(task.workspace_id)
    arguments = event_whole(intended)["arguments"]
    verdict = verdict_for(rules, contract, task_subject(rules, task, contract, arguments))
    unmet = {Outcome.DENY: "it refuses this call", Outcome.ASK: "it asks a person"}.get(verdict.demand.outcome)
    return f"policy became stricter, ask again: {unmet} (rule {_named(verdict)})" if unmet else ""


def _unmet(demand: Demand, task: Task, request: ApprovalRequest, now: datetime) -> str:
    if demand.outcome == Outcome.DENY:
        return "it refuses this call"
    if demand.outcome == Outcome.ALLOW:
        return ""
    # Where the request was passed on to another group, that group's word stands as long as the rule still passes it on.
    group = request.group if request.escalated_at and demand.escalate_to == request.group else demand.group
    approvals = counted(request=request, task=task, group=group)
    if len(approvals) < demand.quorum:
        return f"it asks {demand.quorum} of {group}, and {len(approvals)} of those who approved count"
    within, decided = demand.run_within, request.decided_at
    if within is not None and decided is not None and now > decided + timedelta(seconds=within):
        return f"an approval holds for {within:g} s now"
    return _second_factor(demand, approvals)


def _second_factor(demand: Demand, approvals: list[int]) -> str:
    within = demand.step_up_within
    if within is None:
        return ""
    answers = ApprovalAnswer.objects.filter(pk__in=approvals)
    fresh = [one for one in answers if one.stepped_up_at and (one.at - one.stepped_up_at).total_seconds() <= within]
    return "" if len(fresh) >= demand.quorum else "it wants a second factor from those who approve"


def _named(verdict: Verdict) -> str:
    return f"{verdict.rule!r}, version {verdict.version}"
