"""Stop switches: a stop refuses every attempt in its scope."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from core.models import Workspace


class StopSwitch(models.Model):
    """One standing stop: everything, a workspace, an agent or a tool.

    Setting one takes an exclusive advisory lock that every attempt's commit takes shared
    (the function ``handrail_admission``), so that no attempt commits after it.
    """

    SCOPES = [("all", "everything"), ("workspace", "a workspace"), ("agent", "an agent"), ("tool", "a tool")]

    scope = models.CharField(max_length=10, choices=SCOPES)
    workspace = models.ForeignKey(Workspace, null=True, blank=True, on_delete=models.PROTECT)
    name = models.CharField(max_length=120, blank=True, default="", help_text="Of the agent or tool.")
    reason = models.CharField(max_length=500)
    set_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT)
    set_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "stop switches"
        constraints = [
            models.UniqueConstraint(fields=["scope", "workspace", "name"], name="stop_once", nulls_distinct=False),
            models.CheckConstraint(
                condition=Q(scope="all", workspace=None, name="")
                | Q(scope="workspace", workspace__isnull=False, name="")
                | Q(scope__in=["agent", "tool"], workspace__isnull=False) & ~Q(name=""),
                name="stop_scope_fits",
            ),
        ]

    def __str__(self) -> str:
        return f"stop {self.scope} {self.name}".strip()

    @property
    def covers(self) -> str:
        """Say in words what it is over."""
        said = {"all": "everything, in every workspace", "workspace": "everything in the workspace"}
        return said.get(self.scope) or f"the {self.scope} {self.name}"
