"""Alerts: raised once while their condition holds, cleared when it is over; and the sign of life for the outside."""

from django.db import models
from django.db.models import Q

from core.models import UuidV7, Workspace

__all__ = ["Alert", "AlertRule", "Pulse"]


class AlertRule(models.Model):
    """How one kind of alert is watched. A row appears when its condition is first watched."""

    name = models.CharField(primary_key=True, max_length=40, editable=False)
    enabled = models.BooleanField(default=True)
    holds_for = models.FloatField(help_text="Seconds that the condition must hold before it is an alert.")

    def __str__(self) -> str:
        return self.name


class Alert(models.Model):
    """One condition that somebody should know of. ``workspace``: none where the whole installation is concerned.

    ``seen_at``: first noticed; ``raised_at``: it has held for as long as its rule says; ``cleared_at``: it is over.
    """

    id = models.UUIDField(primary_key=True, db_default=UuidV7(), editable=False)
    rule = models.CharField(max_length=40)
    key = models.CharField(max_length=200, help_text="What it is about, within its rule.")
    workspace = models.ForeignKey(
        Workspace, null=True, blank=True, on_delete=models.CASCADE, related_name="alerts", db_index=False
    )
    title = models.CharField(max_length=300)
    todo = models.TextField(blank=True, default="", help_text="What to do about it.")
    address = models.CharField(max_length=300, blank=True, default="", help_text="The page that shows it.")
    seen_at = models.DateTimeField()
    raised_at = models.DateTimeField(null=True, blank=True)
    cleared_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["rule", "key"], condition=Q(cleared_at__isnull=True), name="alert_open_once"
            ),
        ]
        indexes = [
            models.Index(fields=["-raised_at"], name="alert_raised"),
            models.Index(fields=["workspace"], name="alert_open", condition=Q(cleared_at__isnull=True)),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def state(self) -> str:
        """Return ``stands`` or ``over``; pages use the words of ``core.words`` for it."""
        return "over" if self.cleared_at else "stands"


class Pulse(models.Model):
    """When the address outside was last told that all is well; one row, so that many sweepers tell it once."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    beat_at = models.DateTimeField()
    answer = models.CharField(max_length=200, blank=True, default="")

    def __str__(self) -> str:
        return f"{self.beat_at:%Y-%m-%d %H:%M:%S}Z {self.answer}"
