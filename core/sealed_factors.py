"""Secrets of second factors, sealed by the keys of the credentials: who reads the table can make no code of them."""

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from django.db import transaction

from tasks_app.credentials.keys import seal, unseal

SEALED = "gAAAA"  # how every sealed value begins; neither a one-time secret (base 32) nor a seed (hex) begins so


class Factors(DefaultMFAAdapter):  # type: ignore[misc]  # untyped
    """Seals what allauth keeps of a factor, and opens it; one that was set up before this was kept as it is."""

    def encrypt(self, text: str) -> str:
        """Seal with the newest key. Raises Unavailable where a key is none."""
        return seal(text).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Open. Raises CannotOpen where none of the keys fits."""
        return unseal(encrypted_text.encode()) if encrypted_text.startswith(SEALED) else encrypted_text


def factors_reseal() -> int:
    """Seal the secret of each factor with the newest key, also one that was kept unsealed; return how many."""
    factors, count = Factors(), 0
    for pk in Authenticator.objects.values_list("pk", flat=True):
        with transaction.atomic():
            row = Authenticator.objects.select_for_update().filter(pk=pk).first()
            kept = {name: row.data[name] for name in ("secret", "seed") if name in row.data} if row else {}
            if row is None or not kept:
                continue
            row.data |= {name: factors.encrypt(factors.decrypt(text)) for name, text in kept.items()}
            row.save(update_fields=["data"])
        count += 1
    return count
