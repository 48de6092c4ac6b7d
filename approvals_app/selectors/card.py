"""What the card of one request shows: everything that a person needs to read before deciding (rule 12)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from approvals_app.deciders import principal_refusal
from approvals_app.models import ApprovalRequest
from approvals_app.selectors.record import intended_of, reason_of
from approvals_app.selectors.requests import approvals_of_tool
from approvals_app.services.reopen import may_ask
from approvals_app.status import LIVE, ApprovalStatus, OnExpiry
from approvals_app.tools import tool_change
from approvals_app.words import decided_sentence, effect_sentence, taken_sentence
from core.moments import absolute, duration
from core.principal import Principal
from tasks_app.call_arguments import arguments_shown
from tasks_app.models import Call, StopSwitch
from tasks_app.selectors.stops import stops_over
from tasks_app.status import EXTERNAL_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One request as it is shown. ``refusal`` says why this person may not decide; empty if they may."""

    request: ApprovalRequest
    call: Call
    arguments: Mapping[str, Any]
    seen: str
    reason: str
    effect: str
    refusal: str
    change: str
    decided: str
    ended: str
    if_approved: str
    if_denied: str
    if_silent: str
    never: Sequence[str]
    earlier: Sequence[ApprovalRequest]
    stops: Sequence[StopSwitch]

    @property
    def waits(self) -> bool:
        """Whether it can still be decided, by somebody."""
        return self.request.status == ApprovalStatus.REQUESTED and not self.change

    @property
    def may_ask(self) -> bool:
        """Whether the agent can still ask for anything in its task."""
        return may_ask(self.request.task)

    @property
    def heading(self) -> str:
        """Say of the arguments whether they will run, ran, or will not."""
        if self.request.status == ApprovalStatus.CONSUMED:
            return "Exactly this was run"
        runs = self.waits or self.request.status == ApprovalStatus.APPROVED
        return "Exactly this will run" if runs else "This did not run"


def approval_card(*, request: ApprovalRequest, principal: Principal) -> Card:
    """Return the card for this person; the arguments are those of the record, whole, in the order of the schema."""
    call = Call.objects.get(task=request.task, name=request.name)
    intended = intended_of(request)
    waits = request.status == ApprovalStatus.REQUESTED
    return Card(
        request=request,
        call=call,
        arguments=arguments_shown(tool=request.tool, version=request.contract_version, arguments=intended["arguments"]),
        seen=str(intended.get("seen") or ""),
        reason=reason_of(request),
        effect=effect_sentence(call.effect_class, outside=_is_outside(request)),
        refusal=principal_refusal(request=request, task=request.task, principal=principal) or "",
        change=(tool_change(request) or "") if waits else "",
        decided=decided_sentence(request),
        ended="" if waits else taken_sentence(request).removesuffix(" Nothing was changed."),
        if_approved=_if_approved(request),
        if_denied=_IF_DENIED,
        if_silent=_if_silent(request),
        never=sorted({str(party["user"]) for party in request.policy.get("never", [])}),
        earlier=approvals_of_tool(request),
        stops=stops_of_request(request),
    )


def stops_of_request(request: ApprovalRequest) -> Sequence[StopSwitch]:
    """Return the stops that keep a call from beginning that waits for its decision or its use."""
    if request.status not in LIVE:
        return ()
    return stops_over(workspace=request.workspace_id, agent=request.agent, tool=request.tool)


_IF_DENIED = (
    "The call does not run. The agent is told, with your reason, and decides afresh; "
    "it may ask for exactly this again only if a person lets it."
)


def _if_approved(request: ApprovalRequest) -> str:
    people = f"{request.quorum} people of {request.group} must approve. " if request.quorum > 1 else ""
    return (
        f"{people}The call runs once, with exactly these arguments, as soon as {_runs(request)}. "
        f"Not begun within {duration(request.run_within)}, it has to be asked again."
    )


def _runs(request: ApprovalRequest) -> str:
    return "its agent, which runs outside, uses the approval" if _is_outside(request) else "a worker takes the task"


def _is_outside(request: ApprovalRequest) -> bool:
    return request.task.agent_version == EXTERNAL_VERSION


def _if_silent(request: ApprovalRequest) -> str:
    if request.decide_by is None or request.on_expiry == OnExpiry.WAIT:
        return "The task keeps waiting."
    at = absolute(request.decide_by)
    if request.on_expiry == OnExpiry.ESCALATE and request.escalated_at is None:
        return f"At {at} {request.escalate_to} is asked instead. Nothing runs without an answer."
    return f"At {at} the request expires: the call does not run, and the agent is told."
