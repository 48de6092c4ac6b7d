"""The task: the lock, the lease and the read model of its own stream."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from core.models import UuidV7, Workspace
from tasks_app.status import TERMINAL, Status, WaitKind

__all__ = ["Status", "Task", "WaitKind"]


def empty_digest() -> bytes:
    """Return the digest before the first event: 32 zero bytes."""
    return bytes(32)


class Task(models.Model):
    """One piece of work with one intent, run by one agent, with one append-only record.

    Built from its events in the same statement; ``manage.py record rebuild --check`` proves it.
    """

    id = models.UUIDField(primary_key=True, db_default=UuidV7(), editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="tasks")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="owned_tasks")
    agent = models.CharField(max_length=120)
    agent_version = models.PositiveIntegerField()
    code_digest = models.CharField(max_length=120, blank=True, default="")
    title = models.CharField(max_length=200)
    intent = models.JSONField()
    done_when = models.JSONField(default=list)
    labels = models.JSONField(default=dict)
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="children")
    is_copy = models.BooleanField(default=False, help_text="Begun from a step of another task (copied_from).")
    budget = models.JSONField(default=dict, help_text="steps, seconds, tokens; a missing one is unlimited.")
    created_at = models.DateTimeField(db_default=Now())

    head_seq = models.BigIntegerField(default=0)
    head_digest = models.BinaryField(default=empty_digest)
    status = models.CharField(max_length=20, default=Status.QUEUED, choices=[(s.value, s.value) for s in Status])
    wait = models.JSONField(null=True, blank=True, help_text="kind (WaitKind) and what for, while waiting.")
    open_wait = models.JSONField(null=True, blank=True, help_text="The agent's own wait, until wait.ended.")
    signals = models.JSONField(default=list, help_text="Signals that no wait has taken yet: seq and name.")
    child_tasks = models.JSONField(default=dict, help_text="name -> child id, settled.")
    wake_at = models.DateTimeField(null=True, blank=True, help_text="When it is due without any message.")
    spent = models.JSONField(default=dict, help_text="steps, seconds, tokens, reserved_tokens.")
    step = models.PositiveIntegerField(default=0, help_text="Number of the last step; never reused.")
    bad_decisions = models.PositiveIntegerField(default=0, help_text="Decisions in a row that were refused.")
    checkpoint_seq = models.BigIntegerField(default=0)
    checkpoint_step = models.PositiveIntegerField(default=0, help_text="All calls up to this step are settled.")
    state_seq = models.BigIntegerField(default=0, help_text="Sequence of the last full copy of the agent's state.")
    losses = models.PositiveIntegerField(default=0, help_text="Lost workers at loss_place without progress.")
    loss_place = models.CharField(max_length=200, blank=True, default="")
    one_by_one = models.BooleanField(default=False, help_text="After a loss with several calls in flight.")
    claim = models.JSONField(null=True, blank=True, help_text="The agent's claim of completion, while it is checked.")
    ended_at = models.DateTimeField(null=True, blank=True)

    lease_holder = models.CharField(max_length=120, blank=True, default="")
    lease_epoch = models.BigIntegerField(default=0)
    lease_nonce = models.UUIDField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(status=Status.RUNNING) | Q(lease_until__isnull=False, lease_nonce__isnull=False),
                name="task_running_has_lease",
            ),
            models.CheckConstraint(condition=Q(status__in=[s.value for s in Status]), name="task_status_known"),
            models.CheckConstraint(
                condition=~Q(status__in=sorted(TERMINAL)) | Q(ended_at__isnull=False),
                name="task_terminal_has_end",
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "-id"], name="task_by_workspace"),
            models.Index(fields=["workspace", "status", "-id"], name="task_by_status"),
            models.Index(fields=["wake_at"], name="task_due", condition=Q(wake_at__isnull=False)),
            models.Index(fields=["lease_until"], name="task_leased", condition=Q(lease_nonce__isnull=False)),
            models.Index(fields=["agent"], name="task_running_agent", condition=Q(status=Status.RUNNING)),
            models.Index(fields=["workspace", "-ended_at"], name="task_ended", condition=Q(ended_at__isnull=False)),
            models.Index(fields=["parent"], name="task_children", condition=Q(parent__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.title} ({self.status})"
