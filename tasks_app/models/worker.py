"""Which workers live and what code they carry; which Postgres this record lives in."""

from django.db import models

from core.models import UuidV7


class Worker(models.Model):
    """One start of one Celery worker (a restarted worker of the same name is another row)."""

    id = models.UUIDField(primary_key=True, db_default=UuidV7(), editable=False)
    name = models.CharField(max_length=120)
    host = models.CharField(max_length=120)
    pid = models.PositiveIntegerField()
    keeper_pid = models.PositiveIntegerField(null=True, blank=True)
    pool = models.CharField(max_length=20)
    code_digest = models.CharField(max_length=120, blank=True, default="")
    carries = models.JSONField(default=dict, help_text="agents and tools: name -> versions that this worker can run.")
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField(help_text="Renewed by its keeper; older than a lease means gone.")
    draining = models.BooleanField(default=False)

    class Meta:
        indexes = [models.Index(fields=["-seen_at"], name="worker_seen")]

    def __str__(self) -> str:
        return f"{self.name} ({self.host}:{self.pid})"


class ClusterIdentity(models.Model):
    """(system identifier, timeline) of the Postgres that holds this record; one row (C03).

    While ``reconciling`` is set no attempt is made: the database may have lost its last commits.
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    system_identifier = models.CharField(max_length=40)
    timeline = models.PositiveIntegerField()
    reconciling = models.BooleanField(default=False)

    class Meta:
        verbose_name_plural = "cluster identities"

    def __str__(self) -> str:
        return f"{self.system_identifier}/{self.timeline}"
