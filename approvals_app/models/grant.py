"""Standing grants: this exact call, until an end, so many times (rule 13)."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from core.models import UuidV7, Workspace


class StandingGrant(models.Model):
    """A person's word that one exact call may run without asking again; each use is an event that names it.

    Locked last: task, approval, grant.
    """

    id = models.UUIDField(primary_key=True, db_default=UuidV7(), editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="grants")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="grants")
    agent = models.CharField(max_length=120, help_text="Whose calls it covers.")
    tool = models.CharField(max_length=120)
    contract_version = models.PositiveIntegerField()
    schema_digest = models.CharField(max_length=64)
    same_call = models.CharField(max_length=64, help_text="Digest of tool and arguments.")
    line = models.CharField(max_length=500, help_text="What will happen, in one line.")
    arguments = models.JSONField(help_text="As they were when it was granted.")
    reason = models.TextField()
    granted_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    most_uses = models.PositiveIntegerField()
    uses = models.PositiveIntegerField(default=0)
    revoked_at = models.DateTimeField(null=True, blank=True)
    revoked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="revoked_grants"
    )
    revoked_reason = models.TextField(blank=True, default="")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(uses__lte=F("most_uses")), name="grant_used_within_limit"),
            models.CheckConstraint(condition=Q(most_uses__gte=1), name="grant_has_uses"),
            models.CheckConstraint(condition=Q(ends_at__gt=F("granted_at")), name="grant_ends"),
        ]
        indexes = [
            models.Index(fields=["workspace", "same_call"], name="grant_standing", condition=Q(revoked_at=None)),
        ]

    def __str__(self) -> str:
        return f"{self.line} ({self.uses} of {self.most_uses} used)"
