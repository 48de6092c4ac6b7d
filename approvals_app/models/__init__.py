"""Approvals: requests and answers, policy rules, groups, standing grants."""

from approvals_app.models.answer import ApprovalAnswer, ApprovalView
from approvals_app.models.grant import StandingGrant
from approvals_app.models.policy import ApproverGroup, PolicyBook, PolicyRule
from approvals_app.models.request import ApprovalRequest
from approvals_app.status import ApprovalStatus

__all__ = [
    "ApprovalAnswer",
    "ApprovalRequest",
    "ApprovalStatus",
    "ApprovalView",
    "ApproverGroup",
    "PolicyBook",
    "PolicyRule",
    "StandingGrant",
]
