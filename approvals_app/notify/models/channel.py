"""Channels reach people and programs outside; routes say what goes by which channel, and when."""

from django.db import models
from django.db.models import Q

from approvals_app.notify.kinds import About, ChannelKind
from core.models import UuidV7, Workspace

__all__ = ["Channel", "Route"]
RISKS = ("low", "medium", "high")


class Channel(models.Model):
    """One way out of a workspace. ``address`` and ``secret`` are shown to nobody once they are saved."""

    id = models.UUIDField(primary_key=True, db_default=UuidV7(), editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="channels")
    name = models.CharField(max_length=80)
    kind = models.CharField(max_length=10, choices=[(kind.value, kind.label) for kind in ChannelKind])
    address = models.TextField(blank=True, default="")
    secret = models.CharField(max_length=120, blank=True, default="", editable=False, help_text="Signs webhooks.")
    enabled = models.BooleanField(default=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "name"], name="channel_named_once"),
            models.CheckConstraint(
                condition=Q(kind__in=[kind.value for kind in ChannelKind]), name="channel_kind_known"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Route(models.Model):
    """What goes by a channel, and how long after it began. An empty field stands for all."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="routes")
    channel = models.ForeignKey(Channel, on_delete=models.CASCADE, related_name="routes")
    about = models.CharField(max_length=10, choices=[(about.value, about.label) for about in About])
    group = models.CharField(max_length=120, blank=True, default="", help_text="Approvals: the group that is asked.")
    tool = models.CharField(max_length=120, blank=True, default="", help_text="Approvals: of this tool.")
    lowest_risk = models.CharField(
        max_length=10,
        default="low",
        choices=[(risk, risk) for risk in RISKS],
        help_text="Approvals: of this risk or more.",
    )
    rule = models.CharField(max_length=40, blank=True, default="", help_text="Alerts: of this rule.")
    after = models.PositiveIntegerField(
        default=0, help_text="Seconds that it must have waited: give later channels a later time."
    )
    enabled = models.BooleanField(default=True)

    class Meta:
        ordering = ["workspace", "about", "after", "pk"]

    def __str__(self) -> str:
        return f"{self.about} to {self.channel} after {self.after} s"
