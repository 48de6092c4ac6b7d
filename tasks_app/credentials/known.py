"""What a worker's processes mask from their start: a value can come back from places that nobody granted it to."""

import structlog

from core.errors import HandrailError
from tasks_app.credentials.keys import unseal
from tasks_app.models import Credential
from tasks_app.record.stored import masker_learn

log = structlog.get_logger(__name__)


def credentials_learn() -> None:
    """Let this process mask every credential that is set. One that cannot be opened is named in the log."""
    for name, sealed in Credential.objects.filter(revoked_at=None).values_list("name", "sealed"):
        try:
            masker_learn([unseal(bytes(sealed))])
        except HandrailError as error:
            log.warning("credential_cannot_be_opened", credential=name, error=error.detail)
