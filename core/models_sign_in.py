"""The one table of one-time sign-in links."""

from django.conf import settings
from django.db import models


class SignInLink(models.Model):
    """A link that signs one person in once, within a quarter of an hour. Only the digest of its token is stored."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    token_digest = models.BinaryField(max_length=32)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "sign-in link"
        constraints = [models.UniqueConstraint(fields=["token_digest"], name="sign_in_link_token_digest")]

    def __str__(self) -> str:
        return f"sign-in link of {self.user}"
