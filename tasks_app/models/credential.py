"""Credentials of a workspace, sealed, and the grants by which single calls get them."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from core.models import UuidV7, Workspace
from tasks_app.models.task import Task


class Credential(models.Model):
    """A secret under a name. Its value is never shown again: it is set anew, or revoked."""

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="credentials")
    name = models.CharField(max_length=120)
    sealed = models.BinaryField()
    created_at = models.DateTimeField(db_default=Now())
    changed_at = models.DateTimeField(db_default=Now())
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "name"], name="credential_name_once"),
            models.CheckConstraint(condition=~Q(name=""), name="credential_is_named"),
        ]

    def __str__(self) -> str:
        return self.name


class CredentialGrant(models.Model):
    """One credential for one invocation of one call: short-lived, used at most once."""

    id = models.UUIDField(primary_key=True, db_default=UuidV7(), editable=False)
    credential = models.ForeignKey(Credential, on_delete=models.PROTECT, related_name="grants")
    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="credential_grants")
    call = models.CharField(max_length=120)
    role = models.CharField(max_length=10, help_text="Which function of the contract: execute, find, verify...")
    attempt = models.PositiveIntegerField(default=0)
    issued_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    over_at = models.DateTimeField(null=True, blank=True, help_text="Expired unused, and recorded as such.")

    class Meta:
        indexes = [
            models.Index(
                fields=["expires_at"],
                name="credential_grant_open",
                condition=Q(used_at=None, revoked_at=None, over_at=None),
            )
        ]

    def __str__(self) -> str:
        return f"{self.call} {self.role} {self.attempt}"
