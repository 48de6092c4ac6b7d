"""A person's own filters of the task list, under a name."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from core.models import Workspace


class SavedView(models.Model):
    """One filter that somebody wants again. ``query``: its fields, as in the address of the list."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_views")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="saved_views")
    name = models.CharField(max_length=60)
    query = models.JSONField(default=dict)
    saved_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "workspace", "name"], name="saved_view_named_once")]

    def __str__(self) -> str:
        return self.name
