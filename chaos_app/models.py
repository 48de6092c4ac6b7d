"""Drills as rows: runs, cases with their evidence, schedules with every slot, alerts, pins, and the switch.

The evidence is what a run wrote; rows are made from it and can be made again (``services.collect``).
"""

from django.conf import settings
from django.db import models
from django.db.models import Q

from core.models import UuidV7, Workspace

RUNNING = ("starting", "running")
STATES = (*RUNNING, "ended", "stopped", "failed")
SLOTS = ("due", "fired", "late", "skipped", "missed")


class DrillSchedule(models.Model):
    """When a suite runs by itself. Slots are computed in UTC from the zone's rules and stored, each once (case-27).

    ``seen_until``: slots up to here are rows. ``catch_up``: what becomes of slots that nobody fired in time.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="drill_schedules")
    name = models.CharField(max_length=80)
    cron = models.CharField(max_length=100)
    zone = models.CharField(max_length=60, default="UTC")
    suite = models.CharField(max_length=10, default="core")
    selection = models.JSONField(default=dict, blank=True)
    grace_seconds = models.PositiveIntegerField(default=1800)
    catch_up = models.CharField(max_length=10, default="latest", choices=[(c, c) for c in ("latest", "each", "skip")])
    catch_up_most = models.PositiveIntegerField(default=3, help_text="Of “each”: at most so many, one after the other.")
    overlap = models.CharField(max_length=10, default="skip", choices=[(c, c) for c in ("skip", "wait")])
    enabled = models.BooleanField(default=True)
    seen_until = models.DateTimeField()
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="drill_schedules")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "name"], name="drill_schedule_named_once")]

    def __str__(self) -> str:
        return f"{self.name}: {self.cron} ({self.zone})"


class DrillRun(models.Model):
    """One run of a suite or of chosen cases. ``folder``: where its controller writes; "" until it has begun."""

    id = models.UUIDField(primary_key=True, db_default=UuidV7(), editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="drill_runs")
    suite = models.CharField(max_length=10)
    selection = models.JSONField(default=dict)
    seed = models.BigIntegerField()
    state = models.CharField(max_length=10, default="starting", choices=[(state, state) for state in STATES])
    why = models.TextField(blank=True, default="")
    folder = models.CharField(max_length=300, blank=True, default="")
    launched_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="drill_runs"
    )
    launched_at = models.DateTimeField()
    began_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    stop_asked_at = models.DateTimeField(null=True)
    stop_asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    pid = models.PositiveIntegerField(null=True)
    command = models.TextField(blank=True, default="")
    versions = models.JSONField(default=dict)
    cells = models.JSONField(default=list, help_text="Ids of the cases, in order.")
    left_out = models.JSONField(default=list)
    planted = models.JSONField(default=list, help_text="Bug, whether it was found, what the judge said.")
    caught = models.JSONField(null=True, help_text="Runs of the executor that protects nothing; none: not asked for.")
    exit_code = models.SmallIntegerField(null=True)
    sentence = models.TextField(blank=True, default="")
    summary = models.TextField(blank=True, default="")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(state__in=STATES), name="drill_run_state_known"),
            models.UniqueConstraint(fields=["folder"], condition=~Q(folder=""), name="drill_run_folder_once"),
        ]
        indexes = [models.Index(fields=["workspace", "-id"], name="drill_run_newest")]

    def __str__(self) -> str:
        return f"{self.suite} {self.state}"

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self.state in RUNNING


class DrillCase(models.Model):
    """One judged case with its evidence. ``bug``: planted on purpose; "" for the product as it is."""

    run = models.ForeignKey(DrillRun, on_delete=models.CASCADE, related_name="cases")
    name = models.CharField(max_length=200, help_text="Of the evidence's file.")
    cell = models.CharField("case", max_length=160)
    row = models.CharField("place", max_length=6)
    position = models.CharField(max_length=20)
    klass = models.CharField("what the tool promises", max_length=20)
    fault = models.CharField(max_length=80)
    workload = models.CharField(max_length=40)
    hit = models.IntegerField(default=1)
    repeat = models.PositiveSmallIntegerField(default=0)
    bug = models.CharField(max_length=60, blank=True, default="")
    verdict = models.CharField(max_length=20)
    as_allowed = models.BooleanField()
    is_violation = models.BooleanField()
    cause = models.TextField()
    broken = models.JSONField(default=list)
    takeover = models.FloatField(null=True)
    takeover_bound = models.FloatField(null=True)
    settled = models.FloatField(null=True)
    settled_bound = models.FloatField(null=True)
    rules = models.PositiveSmallIntegerField(default=0)
    judge = models.CharField(max_length=20)
    code = models.CharField(max_length=120, blank=True, default="")
    evidence = models.JSONField()
    digest = models.CharField(max_length=64)
    ended_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "name"], name="drill_case_once")]
        indexes = [models.Index(fields=["cell", "-ended_at"], name="drill_case_trend")]

    def __str__(self) -> str:
        return f"{self.cell}: {self.verdict}"

    @property
    def invariants(self) -> frozenset[str]:
        """The broken ones."""
        return frozenset(one["invariant"] for one in self.broken)


class DrillSlot(models.Model):
    """One moment of a schedule. It ends as exactly one of fired, late, skipped, missed; ``due`` until then."""

    schedule = models.ForeignKey(DrillSchedule, on_delete=models.CASCADE, related_name="slots")
    at = models.DateTimeField()
    state = models.CharField(max_length=10, default="due", choices=[(state, state) for state in SLOTS])
    why = models.TextField(blank=True, default="")
    decided_at = models.DateTimeField(null=True)
    run = models.OneToOneField(DrillRun, null=True, on_delete=models.SET_NULL, related_name="slot")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["schedule", "at"], name="drill_slot_once"),
            models.CheckConstraint(condition=Q(state__in=SLOTS), name="drill_slot_state_known"),
        ]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M}Z {self.state}"


class DrillAlert(models.Model):
    """A run found a violation; it stays until somebody has seen it."""

    run = models.OneToOneField(DrillRun, on_delete=models.CASCADE, related_name="alert")
    at = models.DateTimeField()
    sentence = models.TextField()
    seen_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    seen_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.sentence


class DrillPin(models.Model):
    """A case that was made from a takeover of a real task; it is run again by its name."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="drill_pins")
    task = models.UUIDField()
    lost_seq = models.BigIntegerField()
    cell = models.CharField("case", max_length=160)
    target = models.CharField(
        max_length=200, blank=True, default="", db_default="", help_text="Of an agent of one's own."
    )
    note = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "task", "lost_seq"], name="drill_pin_once")]

    def __str__(self) -> str:
        return self.cell


class DrillSwitch(models.Model):
    """While this row is there, no drill starts in the workspace."""

    workspace = models.OneToOneField(Workspace, on_delete=models.CASCADE, related_name="drill_switch")
    reason = models.TextField()
    set_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    set_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "drill switches"

    def __str__(self) -> str:
        return self.reason


class ToolProof(models.Model):
    """The newest trial of a version of a tool: the class that it declares beside the class that it showed."""

    tool = models.CharField(max_length=120)
    version = models.PositiveIntegerField()
    declared = models.CharField("promise declared", max_length=20)
    shown = models.CharField("promise shown", max_length=20)
    is_true = models.BooleanField("keeps what it declares")
    trials = models.JSONField()
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tool", "version"], name="tool_proof_once")]

    def __str__(self) -> str:
        return f"{self.tool} {self.version}: {self.shown}"
