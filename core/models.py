"""Workspaces, who belongs to them, and the tokens of programs."""

import hashlib

from django.conf import settings
from django.db import models
from django.db.models import Func, Q

from core.access import Role
from core.models_sign_in import SignInLink

__all__ = ["ApiToken", "Membership", "SignInLink", "UuidV7", "Workspace"]


class UuidV7(Func):
    """``uuidv7()`` of PostgreSQL 18: ids that sort by time of creation."""

    function = "uuidv7"
    arity = 0
    output_field = models.UUIDField()


class Workspace(models.Model):
    """The wall between teams, and the head of its administration stream."""

    id = models.UUIDField(primary_key=True, db_default=UuidV7(), editable=False)
    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    keep_days = models.PositiveIntegerField(null=True, blank=True)  # None: its ended tasks are kept for ever
    head_seq = models.BigIntegerField(default=0, editable=False)
    head_digest = models.BinaryField(default=bytes(32), editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A person's role in a workspace; several roles are several rows."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=20, choices=[(role.value, role.value) for role in Role])

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "workspace", "role"], name="membership_once"),
            models.CheckConstraint(condition=Q(role__in=[role.value for role in Role]), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} is {self.role} in {self.workspace}"


class ApiToken(models.Model):
    """A bearer token: only its hash is kept, it is shown once, scoped and expiring.

    ``kind`` "person" acts for ``user``; "agent" is the credential of a program that can never decide an approval.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="tokens")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    kind = models.CharField(max_length=10, choices=[("person", "person"), ("agent", "agent")], default="person")
    name = models.CharField(max_length=120)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    hint = models.CharField(max_length=12, editable=False, help_text="The first characters, to recognise it by.")
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        verbose_name = "API token"

    def __str__(self) -> str:
        return f"{self.name} ({self.hint}…)"

    @staticmethod
    def digest_of(secret: str) -> str:
        """Return the stored form of a token's secret (sha256, hex: the secret has 256 random bits)."""
        return hashlib.sha256(secret.encode()).hexdigest()
