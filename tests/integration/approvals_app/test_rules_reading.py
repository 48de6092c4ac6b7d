"""Rule 12: shown whole before it is approved."""

import pytest

from approvals_app.errors import ReviewFirst, TooLargeToReview
from approvals_app.models import ApprovalRequest
from approvals_app.services import demands
from approvals_app.services.decide import approval_decide
from approvals_app.services.presented import approval_opened, approval_reviewed
from approvals_app.status import Answer, Via
from tests.desk import Desk, as_person, decide, parked


def approve_on_page(request: ApprovalRequest, user):
    return approval_decide(
        approval=request.pk,
        principal=as_person(user, request.workspace),
        decision=Answer.APPROVED,
        reason="",
        digest=request.digest,
        via=Via.PAGE,
    )


def test_rule_12_what_does_not_fit_on_the_card_is_reviewed_before_it_is_approved(desk: Desk):
    request = parked(desk, arguments={"path": "/x" * demands.CARD_BYTES})
    approval_opened(approval=request.pk, user=desk.rhea)
    with pytest.raises(ReviewFirst):
        approve_on_page(request, desk.rhea)
    approval_reviewed(approval=request.pk, user=desk.silas)
    with pytest.raises(ReviewFirst):  # another person's reading is not hers
        approve_on_page(request, desk.rhea)
    approval_reviewed(approval=request.pk, user=desk.rhea)
    assert approve_on_page(request, desk.rhea).decided


def test_rule_12_what_is_too_large_to_review_cannot_be_approved_and_can_be_denied(desk: Desk, monkeypatch):
    monkeypatch.setattr(demands, "MOST_REVIEWED", 10_000)
    request = parked(desk, arguments={"path": "/x" * 5_100})
    for via in (decide, lambda request, user: approve_on_page(request, user)):
        with pytest.raises(TooLargeToReview, match="too large"):
            via(request, desk.rhea)
    decide(request, desk.rhea, Answer.DENIED)
