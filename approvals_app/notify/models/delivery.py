"""Deliveries: one row a message, written before anything is sent, so that nothing is lost and everything is shown."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from approvals_app.notify.kinds import DeliveryState, Kind
from approvals_app.notify.models.channel import Channel
from core.models import UuidV7, Workspace

__all__ = ["PERHAPS_TOLD", "Delivery"]

# Taken, or tried and then left: a try whose answer was lost, or whose process died, may have arrived.
PERHAPS_TOLD = Q(state=DeliveryState.SENT) | Q(state=DeliveryState.QUIET, tries__gt=1)


class Delivery(models.Model):
    """One message to one receiver. Its id goes with it, the same at every try: receivers drop doubles by it.

    ``due_at``: when it is tried next. ``claimed_until``: a process is sending it; after that, another one may.
    ``tries``: the number of the last try, by which a late one is told; it never goes down.
    """

    id = models.UUIDField(primary_key=True, db_default=UuidV7(), editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="deliveries")
    channel = models.ForeignKey(Channel, on_delete=models.CASCADE, related_name="deliveries")
    kind = models.CharField(max_length=30, choices=[(kind.value, kind.value) for kind in Kind])
    subject = models.UUIDField(help_text="The approval or the alert.")
    recipient = models.CharField(max_length=254, blank=True, default="", help_text="An e-mail address.")
    pile = models.CharField(max_length=330, blank=True, default="", help_text="What is alike: agent, tool and rule.")
    body = models.JSONField(help_text="What is said; never a decision, never arguments.")
    state = models.CharField(
        max_length=10, default=DeliveryState.WAITING, choices=[(s.value, s.value) for s in DeliveryState]
    )
    made_at = models.DateTimeField()
    due_at = models.DateTimeField()
    claimed_until = models.DateTimeField(null=True, blank=True)
    tries = models.PositiveSmallIntegerField(default=0)
    tries_before = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="Those before a person sent it again: the pauses are counted from there."
    )
    log = models.JSONField(default=list, help_text="Every try: when, and what came of it.")
    follows = models.BooleanField(
        default=False, db_default=False, help_text="Its receiver is told when it is over; false once that is done."
    )
    ended_at = models.DateTimeField(null=True, blank=True)
    replayed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        verbose_name_plural = "deliveries"
        constraints = [
            models.UniqueConstraint(fields=["channel", "subject", "kind", "recipient"], name="delivery_once"),
            models.CheckConstraint(
                condition=Q(state__in=[state.value for state in DeliveryState]), name="delivery_state_known"
            ),
        ]
        indexes = [
            models.Index(fields=["due_at"], name="delivery_due", condition=Q(state=DeliveryState.WAITING)),
            models.Index(fields=["id"], name="delivery_to_follow", condition=Q(follows=True) & PERHAPS_TOLD),
            models.Index(fields=["workspace", "-id"], name="delivery_newest"),
            models.Index(fields=["channel", "pile", "-made_at"], name="delivery_pile"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} by {self.channel_id}: {self.state}"
