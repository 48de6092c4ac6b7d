"""Request keys: the same key and body is the same request, however often it is sent."""

from django.db import models


class RequestKey(models.Model):
    """A client's own key for one request, with what it led to."""

    principal = models.CharField(max_length=200)
    key = models.CharField(max_length=200)
    body_digest = models.CharField(max_length=64)
    stream = models.UUIDField(help_text="The task that it made or touched.")
    seq = models.BigIntegerField(default=0, help_text="The event that it led to.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["principal", "key"], name="request_key_once")]

    def __str__(self) -> str:
        return f"{self.principal}: {self.key}"
