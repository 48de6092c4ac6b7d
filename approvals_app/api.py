"""``/api/v1/approvals``: list, get, wait, decide, edit, take back, ask again; many at once; figures."""

from dataclasses import asdict
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router
from pydantic import FiniteFloat

from approvals_app.api_card import ApprovalCardOut, card_fields
from approvals_app.api_doubts import router as in_doubt
from approvals_app.api_policy import router as policy
from approvals_app.api_schemas import (
    ApprovalOut,
    ApprovalPageOut,
    DecisionIn,
    DecisionOut,
    DenyGroupIn,
    DenyGroupOut,
    EditIn,
    FiguresOut,
    GroupsOut,
    ListIn,
    ReasonIn,
    TogetherIn,
    TogetherOut,
    WaitOut,
    approval_fields,
)
from approvals_app.selectors.figures import Figures, approval_figures, figures_csv
from approvals_app.selectors.groups import approvals_groups
from approvals_app.selectors.places import place_named
from approvals_app.selectors.requests import approval_find, approvals_page
from approvals_app.services.decide import approval_decide
from approvals_app.services.edit import approval_edit
from approvals_app.services.reopen import approval_reopen
from approvals_app.services.revoke import approval_revoke
from approvals_app.services.together import Done, approvals_decide_together, approvals_deny_group
from approvals_app.status import Via
from approvals_app.waiting import LONGEST_WAIT, decision_wait
from core.access import Right
from core.clock import database_now
from core.principal import caller
from tasks_app.services.intake import field_error

router = Router()
router.add_router("", policy)
router.add_router("", in_doubt)
NARROWED = ("agent", "tool", "rule", "task")
MONTH = 30  # days that figures reach back where nobody says otherwise


@router.get("", response=ApprovalPageOut, summary="List approvals")
def approvals_list(request: HttpRequest, asked: Query[ListIn]) -> dict[str, Any]:
    """Waiting ones by soonest deadline, others latest first; ``mine``: what this caller may decide."""
    principal = caller(request, Right.APPROVALS_READ)
    try:
        after = place_named(asked.after, workspaces=[principal.workspace.pk]) if asked.after else None
    except ValueError:
        raise field_error("after", "is no `next` of this list.") from None
    page = approvals_page(
        workspaces=[principal.workspace.pk],
        shelf=asked.shelf,
        after=after,
        limit=asked.limit,
        only={name: value for name in NARROWED if (value := getattr(asked, name))},
        mine=principal if asked.mine else None,
    )
    return {"approvals": [approval_fields(row) for row in page.rows], "next": page.after and str(page.after)}


@router.get("/groups", response=GroupsOut, summary="List what waits by agent, tool and rule")
def approvals_grouped(request: HttpRequest) -> dict[str, Any]:
    """Largest first: one runaway is one line."""
    workspace = caller(request, Right.APPROVALS_READ).workspace
    return {"groups": [asdict(group) for group in approvals_groups(workspaces=[workspace.pk])]}


@router.post("/groups/deny", response=DenyGroupOut, summary="Deny a whole group and stop its agent")
def approvals_group_deny(request: HttpRequest, body: DenyGroupIn) -> dict[str, Any]:
    """One act with one reason; lifting the stop lets the agent go on."""
    principal = caller(request, Right.APPROVALS_READ)
    denied = approvals_deny_group(
        principal=principal,
        agent=body.agent,
        tool=body.tool,
        rule=body.rule,
        reason=body.reason,
        pause=body.pause,
        via=Via.API,
    )
    stop, attempts = (denied.stop.switch.pk, denied.stop.attempts) if denied.stop else (None, [])
    done = [_done(one) for one in denied.done]
    return {"denied": denied.count, "stop": stop, "attempts": attempts, "approvals": done}


@router.post("/decide", response=TogetherOut, summary="Answer several requests of one tool")
def approvals_together(request: HttpRequest, body: TogetherIn) -> dict[str, Any]:
    """Each is decided on its own and listed with what became of it; to approve, all must be of low risk."""
    principal = caller(request, Right.APPROVALS_READ)
    done = approvals_decide_together(
        principal=principal,
        items=[(one.id, one.digest) for one in body.approvals],
        decision=body.decision,
        reason=body.reason,
        via=Via.API,
    )
    return {"approvals": [_done(one) for one in done]}


@router.get("/figures", response=FiguresOut, summary="Figures of the desk")
def approvals_figures(request: HttpRequest, days: FiniteFloat = MONTH) -> dict[str, Any]:
    """How long calls waited for people, how often they said no, whether they read first."""
    figures = _figures(request, days)
    return {"since": figures.since, "figures": [asdict(line) for line in figures.lines]}


@router.get("/figures.csv", summary="Figures of the desk, as a table")
def approvals_figures_csv(request: HttpRequest, days: FiniteFloat = MONTH) -> HttpResponse:
    """Return the same lines as the figures, times in seconds."""
    text = figures_csv(_figures(request, days))
    response = HttpResponse(text, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="approvals.csv"'
    return response


@router.get("/{uuid:approval}", response=ApprovalCardOut, summary="Get an approval, with the arguments of its call")
def approval_get(request: HttpRequest, approval: UUID) -> dict[str, Any]:
    """Return what a person would read on the card; reading never decides."""
    principal = caller(request, Right.APPROVALS_READ)
    return card_fields(approval_find(workspace=principal.workspace, approval=approval), principal)


@router.get("/{uuid:approval}/decision", response=WaitOut, summary="Wait for a decision")
async def approval_decision_wait(request: HttpRequest, approval: UUID, wait: FiniteFloat = 0.0) -> dict[str, Any]:
    """Answer as soon as it is decided or over, at the latest after ``wait`` seconds (at most 25); nothing is held."""
    workspace = caller(request, Right.APPROVALS_READ).workspace
    return await decision_wait(workspace=workspace, approval=approval, seconds=min(max(wait, 0.0), LONGEST_WAIT))


@router.post("/{uuid:approval}/decide", response=DecisionOut, summary="Approve or deny")
def approval_decision(request: HttpRequest, approval: UUID, body: DecisionIn) -> dict[str, Any]:
    """Decide once. 409 names who was first; the same answer again is the same answer. Agents' tokens never decide."""
    principal = caller(request, Right.APPROVALS_READ)
    outcome = approval_decide(
        approval=approval,
        principal=principal,
        decision=body.decision,
        reason=body.reason,
        digest=body.digest,
        via=Via.API,
    )
    return approval_fields(outcome.request) | {"new": outcome.new, "decided": outcome.decided}


@router.post("/{uuid:approval}/edit", response=ApprovalOut, summary="Put changed arguments in the place of a proposal")
def approval_edited(request: HttpRequest, approval: UUID, body: EditIn) -> dict[str, Any]:
    """Return the request for the new call, which another person decides; the agent's own is withdrawn."""
    principal = caller(request, Right.APPROVALS_READ)
    new = approval_edit(
        approval=approval,
        principal=principal,
        arguments=body.arguments,
        reason=body.reason,
        digest=body.digest,
        via=Via.API,
    )
    return approval_fields(new)


@router.post("/{uuid:approval}/take-back", response=ApprovalOut, summary="Take an unused approval back")
def approval_take_back(request: HttpRequest, approval: UUID, body: ReasonIn) -> dict[str, Any]:
    """Revoke what has not been used yet; the call will not run."""
    principal = caller(request, Right.APPROVALS_READ)
    return approval_fields(approval_revoke(approval=approval, principal=principal, reason=body.reason))


@router.post("/{uuid:approval}/ask-again", response=ApprovalOut, summary="Let a denied call be asked again")
def approval_ask_again(request: HttpRequest, approval: UUID, body: ReasonIn) -> dict[str, Any]:
    """Without this, the same proposal is refused with a pointer to the denial."""
    principal = caller(request, Right.APPROVALS_READ)
    return approval_fields(approval_reopen(approval=approval, principal=principal, reason=body.reason))


def _figures(request: HttpRequest, days: float) -> Figures:
    workspace = caller(request, Right.APPROVALS_READ).workspace
    since = database_now() - timedelta(days=min(max(days, 0.0), 3660.0))
    return approval_figures(workspaces=[workspace.pk], since=since)


def _done(one: Done) -> dict[str, Any]:
    return {
        "id": one.approval,
        "status": one.outcome.request.status if one.outcome else None,
        "code": one.refusal.code if one.refusal else None,
        "detail": one.refusal.detail if one.refusal else None,
    }
