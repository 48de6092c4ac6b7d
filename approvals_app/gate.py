"""The Gate: assess at intention, request with the intention, admit in T1, void with a cancel."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from approvals_app.digests import same_call_digest
from approvals_app.models import ApprovalRequest
from approvals_app.services.admit import call_admit
from approvals_app.services.close import approvals_void
from approvals_app.services.request import approval_request
from approvals_app.status import ApprovalStatus
from approvals_app.words import decided_sentence
from core.clock import database_now
from tasks_app.contracts import Contract
from tasks_app.gate import Admission, Assessment
from tasks_app.models import Call, Task
from tasks_app.record.append import CallChange
from tasks_app.record.events import Event

# The rule that decides while nobody has written another: the contract's own.
CONTRACT_RULE = {"rule": "contract", "version": 1, "group": "approvers", "quorum": 1, "on_expiry": "deny"}


class ApprovalsGate:
    """Implements ``tasks_app.gate.Gate``; every question is asked inside the caller's transaction."""

    def assess(self, *, task: Task, contract: Contract, arguments: Mapping[str, Any], cost: float | None) -> Assessment:
        """Ask where the contract asks; refuse what a person has already refused in this task (rule 9)."""
        if not contract.needs_person:  # what asks nobody was never denied: the hot path costs no query
            return Assessment(outcome="allow", policy={**CONTRACT_RULE, "outcome": "allow"})
        denial = _denial(task.pk, same_call_digest(tool=contract.name, arguments=arguments))
        if denial is not None:
            policy = {"rule": "no means no", "outcome": "deny", "denial": str(denial.pk), "call": denial.name}
            return Assessment(outcome="deny", policy=policy, reason=_no_means_no(denial))
        return Assessment(outcome="ask", policy={**CONTRACT_RULE, "outcome": "ask"})

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
        """Create the row; return ``approval.requested``, to be appended with ``call.intended``."""
        event = approval_request(
            task=task,
            name=call.name,
            contract=contract,
            arguments=arguments,
            digest=digest,
            policy=policy,
            reason=reason,
        )
        return (event,)

    def admit(self, *, task: Task, call: Call, contract: Contract, digest: str, first: bool) -> Admission:
        """T1: see ``call_admit``."""
        return call_admit(task=task, call=call, contract=contract, digest=digest, first=first)

    def void(self, *, task: UUID, names: frozenset[str] | None, reason: str) -> tuple[Event, ...]:
        """Void what is pending or unused; the caller appends the events and settles the calls as voided."""
        return approvals_void(task=task, names=names, reason=reason, now=database_now())


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
