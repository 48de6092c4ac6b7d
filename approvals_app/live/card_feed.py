"""What is new on a card: its head, what became of it, what may still be sent. Never around a field."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any
from uuid import UUID

from django.template.loader import render_to_string

from approvals_app.deciders import decider_refusal
from approvals_app.forms import ReasonForm
from approvals_app.models import ApprovalRequest
from approvals_app.selectors.beside import card_review, last_steps, quorum_of, successor
from approvals_app.selectors.card import Card, approval_card, stops_of_request
from approvals_app.selectors.deciders import deciders_now, deciders_sentence, might_decide
from approvals_app.selectors.requests import approval_find
from approvals_app.services.reopen import may_ask
from core.principal import Principal
from tasks_app.contracts import Contract
from tasks_app.live.parts import Part, PartsFeed
from tasks_app.models import Task
from tasks_app.registry import tool_find


def card_fragments(
    *, request: ApprovalRequest, principal: Principal, csrf_token: str, state: str, preview: bool = False
) -> Iterator[tuple[str, str]]:
    """Return the parts of a card that change, for this person. ``state``: see ``state_context``.

    ``preview``: it stands beside a list.
    """
    card = approval_card(request=request, principal=principal)
    context = state_context(card, principal, state) | {"csrf_token": csrf_token, "oob": True, "preview": preview}
    parts = ("heading", "state", "send", *(("after",) if csrf_token else ()))
    for part in parts:
        yield f"card-{part}-{request.pk}", render_to_string(f"approvals/_card_{part}.html", context)


def state_context(card: Card, principal: Principal, state: str) -> dict[str, Any]:
    """Return what the parts of a card that change are made from.

    ``state``: what ``card_state`` said before the card was read, so that what is shown is no older than that.
    """
    request, contract = card.request, tool_find(card.request.tool, card.request.contract_version)
    return {
        "card": card,
        "state": state,
        "editable": bool(contract and contract.editable),
        "uneditable": _uneditable(contract),
        "may_grant": request.quorum == 1 and request.step_up_within is None and not card.refusal,
        "review": card_review(card),
        "quorum": quorum_of(card, user=principal.user),
        "stepped_up_at": principal.stepped_up_at,
        "deciders": _deciders(card),
        "successor": None if card.waits else successor(card.request),
        "reason_form": ReasonForm(auto_id=f"{card.request.pk}-after-%s"),
    }


def _uneditable(contract: Contract | None) -> str:
    """Say why nothing of a call may be edited; an empty text where something may."""
    if contract is None:
        return "This call cannot be edited here: this process does not carry its tool."
    return "" if contract.editable else "Nothing of this call may be edited: its tool lists no field for that."


def _deciders(card: Card) -> str:
    """Say who could decide, to whoever may not, and where several must."""
    if not card.waits or not (card.refusal or card.request.quorum > 1):
        return ""
    return deciders_sentence(deciders_now(card.request), card.request)


@dataclass(slots=True, kw_only=True)
class CardFeed(PartsFeed[Principal]):
    """Follows one card for one reader. ``who`` is asked at every read and raises where the right is gone."""

    approval: UUID
    csrf_token: str = ""

    def fragments(self, principal: Principal) -> Iterator[Part]:
        """See PartsFeed."""
        request = approval_find(workspace=principal.workspace, approval=self.approval)
        # The arguments may be large: the card is read again only where something about it changed.
        state = card_state(request, principal)
        if self._sent.changed([("state", state)]):
            token = self.csrf_token
            yield from card_fragments(request=request, principal=principal, csrf_token=token, state=state)
        head = Task.objects.filter(pk=request.task_id).values_list("head_seq", flat=True).get()
        if self._sent.changed([("head", str(head))]):
            context = {
                "steps": last_steps(task=request.task),
                "task": request.task,
                "request_row": request,
                "oob": True,
            }
            yield "steps", render_to_string("approvals/_card_steps.html", context)


def card_state(request: ApprovalRequest, principal: Principal) -> str:
    """Return a digest of what the parts of a card that change depend on; the words of a time change by themselves.

    A page keeps it with the card and says it again: what it shows is compared with what is. Who may decide is part of
    it, this person and, where they are named or counted, the others.
    """
    later = successor(request) if request.status != "requested" else None
    moments = (request.decided_at, request.closed_at, request.consumed_at, request.reopened_at, request.decide_by)
    answers = list(request.answers.order_by("pk").values_list("user", "answer", "at"))
    over = not may_ask(request.task)
    stops = [stop.pk for stop in stops_of_request(request)]
    refusal = decider_refusal(request=request, task=request.task, user=principal.user, roles=principal.roles)
    others = might_decide(request) if request.status == "requested" and (refusal or request.quorum > 1) else []
    stepped_up_at = principal.stepped_up_at if request.step_up_within else None
    shown = [request.status, moments, request.group, answers, later and later.pk, over, stops, refusal, others]
    return blake2b(repr((*shown, stepped_up_at)).encode(), digest_size=8).hexdigest()
