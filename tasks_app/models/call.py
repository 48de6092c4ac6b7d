"""One tool call, built from events in the same statement."""

from django.db import models
from django.db.models import Q

from core.models import Workspace
from tasks_app.models.task import Task
from tasks_app.status import OPEN, CallState

__all__ = ["Call", "CallState"]


class Call(models.Model):
    """A call's name stands for an effect, once in a task (unique (task, name))."""

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="calls")
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="calls")
    name = models.CharField(max_length=120)
    step = models.PositiveIntegerField()
    ordinal = models.PositiveIntegerField(help_text="Place within its step, from 0.")
    tool = models.CharField(max_length=120)
    contract_version = models.PositiveIntegerField()
    effect_class = models.CharField(max_length=10)
    digest = models.CharField(max_length=64, help_text="Call digest: tool, version, schema, arguments, seen state.")
    key = models.CharField(max_length=64, help_text="Idempotency key, fixed when the call is intended.")
    business_key = models.CharField(max_length=300, null=True, blank=True)  # noqa: DJ001 - null: not in the unique index
    holds_business_key = models.BooleanField(default=False)
    state = models.CharField(max_length=20, choices=[(s.value, s.value) for s in CallState])
    attempts = models.PositiveIntegerField(default=0)
    maybe_applied = models.BooleanField(default=False, help_text="An attempt of unknown outcome may have acted.")
    look_first = models.BooleanField(default=False, help_text="Look up before anything else is sent.")
    first_attempt_at = models.DateTimeField(null=True, blank=True)
    deadline = models.DateTimeField(null=True, blank=True, help_text="The latest deadline of any attempt.")
    attempt_epoch = models.BigIntegerField(null=True, blank=True, help_text="The lease no. of the last attempt.")
    look_ups = models.PositiveIntegerField(default=0)
    next_look_at = models.DateTimeField(null=True, blank=True)
    reference = models.CharField(max_length=300, blank=True, default="", help_text="Reference in the outside system.")
    resource = models.CharField(max_length=300, blank=True, default="")
    handle = models.CharField(max_length=300, blank=True, default="", help_text="Of long work, by start / poll.")
    intended_seq = models.BigIntegerField()
    attempted_seq = models.BigIntegerField(null=True, blank=True)
    answer_seq = models.BigIntegerField(null=True, blank=True, help_text="The event that carries the answer.")
    settled_seq = models.BigIntegerField(null=True, blank=True)
    replaced_by = models.CharField(max_length=120, blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task", "name"], name="call_name_once"),
            models.UniqueConstraint(fields=["task", "step", "ordinal"], name="call_place_once"),
            models.UniqueConstraint(
                fields=["workspace", "business_key"],
                condition=Q(holds_business_key=True),
                name="call_business_key_once",
            ),
        ]
        indexes = [
            models.Index(fields=["task"], name="call_open", condition=Q(state__in=sorted(OPEN))),
            models.Index(fields=["tool"], name="call_in_flight", condition=Q(state__in=["attempted", "started"])),
            models.Index(fields=["workspace", "reference"], name="call_by_reference"),
            models.Index(
                fields=["workspace", "-first_attempt_at", "-id"],
                name="call_attempted",
                condition=Q(first_attempt_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name}: {self.tool} ({self.state})"
