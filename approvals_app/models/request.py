"""The approval request: one row is the source for list, badge, gate and API."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from approvals_app.models.grant import StandingGrant
from approvals_app.status import LIVE, Answer, ApprovalStatus, OnExpiry, ReasonRule, Via
from core.models import UuidV7, Workspace
from tasks_app.models import Task


class ApprovalRequest(models.Model):
    """A single-use capability for one call: this tool and version, these arguments, until this time.

    The arguments are not copied: they are read from the ``call.intended`` event that ``digest`` covers.
    Changed only under its own lock, after the task's, in the transaction of its event.
    """

    id = models.UUIDField(primary_key=True, db_default=UuidV7(), editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="approvals")
    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="approvals")
    name = models.CharField(max_length=120, help_text="Of the call.")
    tool = models.CharField(max_length=120)
    contract_version = models.PositiveIntegerField()
    schema_digest = models.CharField(max_length=64, help_text="Of the arguments' schema when it was asked.")
    digest = models.CharField(max_length=64, help_text="The call digest: what is shown, posted, approved and run.")
    same_call = models.CharField(max_length=64, help_text="Digest of tool and arguments: the same proposal again.")
    line = models.CharField(max_length=500, help_text="What will happen, in one line.")
    risk = models.CharField(max_length=10)
    group = models.CharField(max_length=120, help_text="Who may decide.")
    policy = models.JSONField(help_text="The rule that asked, and who must not decide (never).")
    agent = models.CharField(max_length=120, db_default="", default="", help_text="Whose task it is.")
    rule = models.CharField(max_length=80, db_default="contract", default="contract", help_text="That asked.")
    rule_version = models.PositiveIntegerField(db_default=1, default=1)
    quorum = models.PositiveSmallIntegerField(db_default=1, default=1, help_text="How many must approve.")
    reason_rule = models.CharField(
        max_length=10,
        db_default=ReasonRule.NONE.value,
        default=ReasonRule.NONE,
        choices=[(r.value, r.value) for r in ReasonRule],
    )
    on_expiry = models.CharField(
        max_length=10,
        db_default=OnExpiry.DENY.value,
        default=OnExpiry.DENY,
        choices=[(e.value, e.value) for e in OnExpiry],
    )
    escalate_to = models.CharField(max_length=60, db_default="", default="", blank=True)
    escalated_at = models.DateTimeField(null=True, blank=True)
    overdue_at = models.DateTimeField(null=True, blank=True, help_text="Kept waiting past its deadline since then.")
    step_up_within = models.FloatField(null=True, blank=True, help_text="Seconds since a second factor was shown.")
    size = models.PositiveIntegerField(db_default=0, default=0, help_text="Bytes of the canonical arguments.")
    replaces = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="replacement", help_text="Edited from."
    )
    editor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="edited_approvals"
    )
    grant = models.ForeignKey(
        StandingGrant,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="requests",
        help_text="Answered.",
    )
    status = models.CharField(
        max_length=10, default=ApprovalStatus.REQUESTED, choices=[(s.value, s.value) for s in ApprovalStatus]
    )
    requested_at = models.DateTimeField()
    decide_by = models.DateTimeField(null=True, blank=True)
    run_within = models.FloatField(help_text="Seconds between decision and use.")
    run_by = models.DateTimeField(null=True, blank=True)
    decision = models.CharField(max_length=10, blank=True, default="", choices=[(a.value, a.value) for a in Answer])
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="decisions"
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    decision_reason = models.TextField(blank=True, default="")
    decided_via = models.CharField(max_length=10, blank=True, default="", choices=[(v.value, v.value) for v in Via])
    closed_at = models.DateTimeField(null=True, blank=True, help_text="Voided, revoked, expired or lapsed.")
    closed_reason = models.TextField(blank=True, default="")
    consumed_at = models.DateTimeField(null=True, blank=True)
    reopened_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="reopened"
    )
    reopened_at = models.DateTimeField(null=True, blank=True, help_text="A person lets it be asked again after a no.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["task", "name"],
                condition=Q(status__in=sorted([*LIVE, ApprovalStatus.CONSUMED])),
                name="approval_live_once",
            ),
            models.CheckConstraint(
                condition=Q(status__in=[status.value for status in ApprovalStatus]), name="approval_status_known"
            ),
            models.CheckConstraint(
                condition=~Q(status__in=[ApprovalStatus.APPROVED, ApprovalStatus.DENIED, ApprovalStatus.CONSUMED])
                | Q(decided_by__isnull=False, decided_at__isnull=False) & ~Q(decision=""),
                name="approval_decided_by_someone",
            ),
            models.CheckConstraint(
                condition=~Q(status__in=[ApprovalStatus.APPROVED, ApprovalStatus.CONSUMED])
                | Q(decision=Answer.APPROVED, run_by__isnull=False),
                name="approval_used_only_approved",
            ),
            models.CheckConstraint(
                condition=Q(status=ApprovalStatus.CONSUMED, consumed_at__isnull=False)
                | ~Q(status=ApprovalStatus.CONSUMED) & Q(consumed_at__isnull=True),
                name="approval_consumed_has_moment",
            ),
        ]
        indexes = [
            models.Index(
                fields=["workspace", "decide_by", "id"],
                name="approval_waiting",
                condition=Q(status=ApprovalStatus.REQUESTED),
            ),
            models.Index(
                fields=["workspace", "agent", "tool", "rule"],
                name="approval_alike",
                condition=Q(status=ApprovalStatus.REQUESTED),
            ),
            models.Index(fields=["workspace", "-decided_at"], name="approval_decided"),
            models.Index(fields=["decide_by"], name="approval_due", condition=Q(status=ApprovalStatus.REQUESTED)),
            models.Index(fields=["run_by"], name="approval_unused", condition=Q(status=ApprovalStatus.APPROVED)),
            models.Index(
                fields=["task", "same_call"], name="approval_denied", condition=Q(status=ApprovalStatus.DENIED)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.line} ({self.status})"
