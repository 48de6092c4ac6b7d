"""The Gate: assess at intention, request with the intention, admit in T1, void with a cancel."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from approvals_app.costs import call_cost
from approvals_app.digests import same_call_digest
from approvals_app.models import ApprovalRequest
from approvals_app.policy import Verdict
from approvals_app.selectors.policy import rules_remembered, task_subject, verdict_for
from approvals_app.services.admit import call_admit
from approvals_app.services.close import approvals_void
from approvals_app.services.request import approval_request
from approvals_app.status import ApprovalStatus, Outcome
from approvals_app.words import decided_sentence
from core.clock import database_now
from tasks_app.contracts import Contract
from tasks_app.gate import Admission, Assessment
from tasks_app.models import Call, Task
from tasks_app.record.append import CallChange
from tasks_app.record.events import Event


class ApprovalsGate:
    """Implements ``tasks_app.gate.Gate``; every question is asked inside the caller's transaction."""

    def assess(self, *, task: Task, contract: Contract, arguments: Mapping[str, Any]) -> Assessment:
        """Ask, refuse or allow as policy says; refuse what a person has already refused in this task (rule 9)."""
        rules = rules_remembered(task.workspace_id)
        cost = call_cost(contract, arguments)
        verdict = verdict_for(rules, contract, task_subject(rules, task, contract, arguments, cost))
        kept = verdict.kept(revision=rules.revision) | cost.kept()
        if verdict.demand.outcome == Outcome.DENY:
            return Assessment(outcome="deny", policy=kept, reason=_refused(verdict))
        if verdict.demand.outcome == Outcome.ASK or rules.rules:
            # What asks nobody by its contract alone was never denied: the hot path costs no query.
            denial = _denial(task.pk, same_call_digest(tool=contract.name, arguments=arguments))
            if denial is not None:
                policy = {"rule": "no means no", "outcome": "deny", "denial": str(denial.pk), "call": denial.name}
                return Assessment(outcome="deny", policy=policy, reason=_no_means_no(denial))
        return Assessment(outcome=verdict.demand.outcome, policy=kept)

    def request(
        self,
        *,
        task: Task,
        call: CallChange,
        contract: Contract,
        arguments: Mapping[str, Any],
        digest: str,
        policy: Mapping[str, Any],
        reason: str,
    ) -> tuple[Event, ...]:
        """Create the row; return ``approval.requested``, and the decision where a standing grant has made it."""
        return approval_request(
            task=task,
            name=call.name,
            contract=contract,
            arguments=arguments,
            digest=digest,
            policy=policy,
            reason=reason,
        )

    def admit(self, *, task: Task, call: Call, contract: Contract, digest: str, first: bool) -> Admission:
        """T1: see ``call_admit``."""
        return call_admit(task=task, call=call, contract=contract, digest=digest, first=first)

    def void(self, *, task: UUID, names: frozenset[str] | None, reason: str) -> tuple[Event, ...]:
        """Void what is pending or unused; the caller appends the events and settles the calls as voided."""
        return approvals_void(task=task, names=names, reason=reason, now=database_now())


def _refused(verdict: Verdict) -> str:
    why = f" Its condition could not be evaluated: {verdict.failed}" if verdict.failed else ""
    return f"Policy refuses this call: rule {verdict.rule!r}, version {verdict.version}.{why} Propose something else."


def _denial(task: UUID, same_call: str) -> ApprovalRequest | None:
    denials = ApprovalRequest.objects.filter(
        task=task, same_call=same_call, status=ApprovalStatus.DENIED, reopened_at=None
    )
    return denials.select_related("decided_by").order_by("pk").last()


def _no_means_no(denial: ApprovalRequest) -> str:
    because = f" Reason: {denial.decision_reason}" if denial.decision_reason else ""
    return (
        f"A person has refused exactly this call in this task (call {denial.name!r}). {decided_sentence(denial)}"
        f"{because} Propose something else, or let a person ask for it again."
    )
