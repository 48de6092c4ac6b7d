"""What a worker's processes mask, and from when: a value can come back from places that nobody granted it to.

A process knows every value from its start, and looks for new ones before it masks anything, unless it has just
looked. A value is handed to nobody before it has been set for as long (``RIPE``): whatever brings it back comes later.
"""

import threading
import time
from datetime import datetime, timedelta

import structlog
from django.db import Error

from core.clock import database_now
from core.errors import HandrailError
from core.logs import logs_mask
from tasks_app.credentials.keys import formers, unseal
from tasks_app.models import Credential
from tasks_app.record.stored import masker, masker_ask, masker_learn

log = structlog.get_logger(__name__)

EVERY = 0.5  # seconds between two looks of a process that masks
RIPE = timedelta(seconds=2 * EVERY)
OVERLAP = timedelta(seconds=10)  # a change is seen when it is committed, and dated when it was made

_lock = threading.Lock()
_looked = 0.0  # monotonic clock
_newest: datetime | None = None


def credentials_learn() -> None:
    """Let this process mask every credential, and the values that it had before it was set anew.

    One that was revoked or replaced may still be good where it is from, and come back.

    One that cannot be opened is named in the log.
    """
    global _newest
    rows = Credential.objects.all()
    if _newest is not None:
        rows = rows.filter(changed_at__gt=_newest - OVERLAP)
    for name, sealed, changed in rows.values_list("name", "sealed", "changed_at"):
        _newest = max(_newest or changed, changed)
        try:
            masker_learn(formers(bytes(sealed)))
            masker_learn([unseal(bytes(sealed))])
        except HandrailError as error:
            log.warning("credential_cannot_be_opened", credential=name, error=error.detail)


def credentials_follow() -> None:
    """From now on, let this process learn what is set anew before it masks anything."""
    masker_ask(_look)


def credentials_unlogged(**_: object) -> None:
    """From now on, let this process log and print no value that it knows: a tool may run in the worker itself."""
    logs_mask(lambda text: masker().text(text, exempt=True))


def ripe_wait(changed: datetime) -> None:
    """Wait until a value that was set then is masked by every process that follows (at most ``RIPE``)."""
    left = (changed + RIPE - database_now()).total_seconds()
    if left > 0:
        time.sleep(left)


def _look() -> None:
    global _looked
    with _lock:
        if time.monotonic() - _looked < EVERY:
            return
        _looked = time.monotonic()
    try:
        credentials_learn()
    except Error:  # the database is away: nothing can be written that would have to be masked either
        _looked = 0.0
