"""The record itself: events, their large payloads, and what fenced-off workers tried to write."""

from django.db import models
from django.db.models import Q


class Event(models.Model):
    """One immutable row of a stream. Streams are tasks, and one administration stream a workspace."""

    id = models.BigAutoField(primary_key=True)
    stream = models.UUIDField()
    seq = models.BigIntegerField()
    kind = models.CharField(max_length=40)
    data = models.JSONField()
    actor = models.CharField(max_length=200)
    epoch = models.BigIntegerField(null=True, blank=True)
    at = models.DateTimeField()
    digest = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stream", "seq"], name="event_once")]
        indexes = [
            models.Index(
                fields=["stream", "seq"],
                name="event_state",
                condition=Q(kind="step.decided", data__has_key="state"),
            ),
            models.Index(fields=["stream", "seq"], name="event_context", condition=Q(kind="context.selected")),
            models.Index(fields=["-id"], name="event_of_person", condition=Q(actor__startswith="person:")),
        ]

    def __str__(self) -> str:
        return f"{self.stream} {self.seq} {self.kind}"


class Blob(models.Model):
    """What is larger than 8 KB in an event; kept whole, goes with its task."""

    stream = models.UUIDField()
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()
    media_type = models.CharField(max_length=100)
    content = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stream", "sha256"], name="blob_once")]

    def __str__(self) -> str:
        return f"{self.sha256[:12]} ({self.size} bytes)"


class LateWrite(models.Model):
    """What a fenced-off worker tried to append: zombies are shown, not hidden."""

    stream = models.UUIDField(db_index=True)
    at = models.DateTimeField()
    held_epoch = models.BigIntegerField(null=True, help_text="The token that held the task.")
    presented_epoch = models.BigIntegerField(help_text="The token that the late worker presented.")
    presented_nonce = models.UUIDField()
    actor = models.CharField(max_length=200)
    kind = models.CharField(max_length=40)
    data = models.JSONField()

    def __str__(self) -> str:
        return f"{self.kind} by lease no. {self.presented_epoch}, refused"
