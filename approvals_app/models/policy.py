"""Policy: versioned rules and the groups that they ask."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from approvals_app.status import OnExpiry, Outcome, ReasonRule
from core.models import Workspace

LONGEST_CONDITION = 2000  # characters


class ApproverGroup(models.Model):
    """People of whom a rule asks a quorum; membership does not replace the right to decide."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="approver_groups")
    name = models.SlugField(max_length=60, help_text="Rules name it; 'approvers' stands for everyone with the right.")
    members = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="approver_groups", blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "name"], name="approver_group_once"),
            models.CheckConstraint(condition=~Q(name="approvers"), name="approver_group_not_everyone"),
        ]

    def __str__(self) -> str:
        return self.name


class PolicyBook(models.Model):
    """How often a workspace's rules have changed: what decided is compared with what holds now."""

    workspace = models.OneToOneField(Workspace, on_delete=models.CASCADE, related_name="policy_book")
    revision = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return f"policy of {self.workspace}, revision {self.revision}"


class PolicyRule(models.Model):
    """One version of one rule; a change is a new row, and the old one stays for whoever asks what decided then."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="policy_rules")
    name = models.CharField(max_length=80)
    version = models.PositiveIntegerField()
    position = models.IntegerField(default=100, help_text="Rules are asked from the lowest; the first match decides.")
    condition = models.TextField(
        max_length=LONGEST_CONDITION,
        help_text="CEL over tool, contract, arguments, agent, labels, risk, cost and time; 'true' matches every call.",
    )
    outcome = models.CharField(max_length=10, choices=[(o.value, o.value) for o in Outcome])
    shadow = models.BooleanField(default=False, help_text="Only record what this rule would have done.")
    group = models.CharField(max_length=60, default="approvers", help_text="Who is asked.")
    quorum = models.PositiveSmallIntegerField(default=1, help_text="How many of them must approve.")
    reason_rule = models.CharField(
        max_length=10, choices=[(r.value, r.value) for r in ReasonRule], default=ReasonRule.NONE
    )
    decide_within = models.FloatField(null=True, blank=True, help_text="Seconds; empty: the contract's.")
    run_within = models.FloatField(null=True, blank=True, help_text="Seconds after the answer; empty: the contract's.")
    on_expiry = models.CharField(max_length=10, choices=[(e.value, e.value) for e in OnExpiry], default=OnExpiry.DENY)
    escalate_to = models.CharField(max_length=60, blank=True, default="", help_text="The group that is asked then.")
    step_up_within = models.FloatField(
        null=True, blank=True, help_text="Seconds since a second factor was shown; empty: not asked."
    )
    second_person = models.BooleanField(
        default=True, help_text="Whoever asks to run a call again may not approve that themselves."
    )
    written_by = models.CharField(max_length=150, editable=False)
    written_at = models.DateTimeField(auto_now_add=True)
    retired_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ["workspace", "position", "name", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "name", "version"], name="policy_rule_version_once"),
            models.UniqueConstraint(
                fields=["workspace", "name"], condition=Q(retired_at=None), name="policy_rule_current_once"
            ),
            models.CheckConstraint(
                condition=Q(outcome__in=[o.value for o in Outcome]), name="policy_rule_outcome_known"
            ),
            models.CheckConstraint(condition=Q(quorum__gte=1), name="policy_rule_quorum_positive"),
            models.CheckConstraint(
                condition=~Q(on_expiry=OnExpiry.ESCALATE) | ~Q(escalate_to=""), name="policy_rule_escalates_to_somebody"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} (version {self.version})"
