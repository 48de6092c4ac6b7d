"""What each person did with a request: saw it listed, opened it, answered it."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from approvals_app.models.request import ApprovalRequest
from approvals_app.status import Answer, Via


class ApprovalAnswer(models.Model):
    """One person's answer; a quorum counts them. Written under the request's lock, with its event."""

    request = models.ForeignKey(ApprovalRequest, on_delete=models.CASCADE, related_name="answers")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="answers")
    answer = models.CharField(max_length=10, choices=[(a.value, a.value) for a in Answer])
    reason = models.TextField(blank=True, default="")
    via = models.CharField("answered through", max_length=10, choices=[(v.value, v.value) for v in Via])
    at = models.DateTimeField()
    stepped_up_at = models.DateTimeField(null=True, blank=True, help_text="When they last showed a second factor.")
    opened_at = models.DateTimeField(null=True, blank=True, help_text="When they first had the card before them.")
    hasty = models.BooleanField(
        "answered in haste", default=False, help_text="Answered faster than the card can be read."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["request", "user"], name="approval_answer_once"),
            models.CheckConstraint(condition=Q(answer__in=[a.value for a in Answer]), name="approval_answer_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} {self.answer} {self.request_id}"


class ApprovalView(models.Model):
    """When a person first saw a request in a list, opened its card, and had its review page before them."""

    request = models.ForeignKey(ApprovalRequest, on_delete=models.CASCADE, related_name="views")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="approval_views")
    presented_at = models.DateTimeField(null=True, blank=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    reviewed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["request", "user"], name="approval_view_once")]

    def __str__(self) -> str:
        return f"{self.user} looked at {self.request_id}"
