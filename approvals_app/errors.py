"""Refusals of a decision that tell a person what to do first."""

from core.errors import Conflict, Forbidden, InvalidInput


class ReasonRequired(InvalidInput):
    """The rule that asks wants a reason; nothing was changed."""

    code = "reason-required"


class StepUpRequired(Forbidden):
    """The rule that asks wants a fresh sign-in with a second factor; nothing was changed."""

    code = "step-up-required"


class ReviewFirst(Conflict):
    """The arguments do not fit on the card: read them on the review page, then decide. Nothing was changed."""

    code = "review-first"


class TooLargeToReview(Conflict):
    """The arguments are too large for a person to review, so the call cannot be approved. Nothing was changed."""

    code = "too-large-to-review"


class NotTogether(Conflict):
    """Only calls of one tool and contract, of low risk, may be decided together. Nothing was changed."""

    code = "not-together"
