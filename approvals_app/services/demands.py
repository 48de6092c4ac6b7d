"""What the rule that asks demands of an answer besides the right to give it: reason, review, second factor."""

from approvals_app.errors import ReasonRequired, ReviewFirst, StepUpRequired, TooLargeToReview
from approvals_app.models import ApprovalView
from approvals_app.services.answer import Post
from approvals_app.status import Answer, ReasonRule, Via

CARD_BYTES = 8_000  # canonical arguments that a card shows whole; more leads over the review page
MOST_REVIEWED = 3_500_000  # canonical bytes that a person can review at all, page by page


def demands_check(post: Post) -> None:
    """Raise what the rule wants first: ReasonRequired, TooLargeToReview, ReviewFirst, StepUpRequired. No denial waits
    for a review or a second factor: "no" is never dangerous.
    """
    _reason(post)
    if post.decision == Answer.APPROVED:
        _review(post)
        _step_up(post)


def _reason(post: Post) -> None:
    rule = ReasonRule(post.request.reason_rule)
    wanted = rule == ReasonRule.ALWAYS or (rule == ReasonRule.DENIAL and post.decision == Answer.DENIED)
    if wanted and not post.reason.strip():
        raise ReasonRequired(f"The rule {post.request.rule!r} wants a reason for this answer; nothing was changed.")


def _review(post: Post) -> None:
    if post.request.size > MOST_REVIEWED:
        raise TooLargeToReview(size=post.request.size, most=MOST_REVIEWED)
    if post.via != Via.PAGE or post.request.size <= CARD_BYTES:
        return
    reviewed = ApprovalView.objects.filter(request=post.request, user=post.user, reviewed_at__isnull=False)
    if not reviewed.exists():
        raise ReviewFirst(state=post.request.status)


def _step_up(post: Post) -> None:
    within = post.request.step_up_within
    if within is None:
        return
    shown = post.principal.stepped_up_at
    if shown is None or (post.now - shown).total_seconds() > within:
        raise StepUpRequired(
            f"The rule {post.request.rule!r} wants a second factor shown within the last {within:g} s; "
            "nothing was changed. Show it, then decide.",
            max_age=within,
        )
