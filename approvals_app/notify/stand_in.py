"""While no sweeper lives, each web process watches and sends: otherwise nobody would say that none lives."""

import threading
import time

import structlog
from django.conf import settings
from django.db import Error, connections

from approvals_app.notify.services.duty import notify_without_pulse
from tasks_app.sweeper_row import POOL
from tasks_app.workers import workers_alive

log = structlog.get_logger(__name__)


def stand_in_start() -> None:
    """Begin to look, in a thread of this process; not at all where ``HANDRAIL_STAND_IN_SECONDS`` is 0."""
    if settings.HANDRAIL_STAND_IN_SECONDS:
        threading.Thread(target=_run, name="stand-in", daemon=True).start()


def _run() -> None:
    while True:
        time.sleep(settings.HANDRAIL_STAND_IN_SECONDS)
        try:
            if not workers_alive().filter(pool=POOL).exists():
                notify_without_pulse()
        except Error:  # away: the pages say so themselves
            log.debug("stand_in_database_away")
        except Exception:
            log.exception("stand_in_failed")
        finally:
            connections.close_all()
