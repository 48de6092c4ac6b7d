"""A fresh process of the pool makes ready before its first slice: a takeover often lands on a child just born."""

import gc
from importlib import import_module
from uuid import uuid4

import structlog
from django.conf import settings
from django.db import Error
from django.utils.module_loading import import_string

from tasks_app.credentials.known import credentials_follow, credentials_learn
from tasks_app.gate import gate
from tasks_app.keeper.client import client_here
from tasks_app.leases import claim_rehearse
from tasks_app.models import Task
from tasks_app.open_calls import calls_open
from tasks_app.record.append import StreamGone

log = structlog.get_logger(__name__)
# Libraries that load these at first use: in a process just forked, that is within its first slice.
LATE = ("httpcore",)


def load_before_forks() -> None:
    """Import in the worker's main process what a first slice needs, or each process of the pool imports it anew.

    What is there is frozen for the collector: looking through it would copy every page that is shared with the pool.
    """
    gate()
    for layer in settings.CHANNEL_LAYERS.values():
        import_string(str(layer["BACKEND"]))
    for name in LATE:
        import_module(name)
    gc.freeze()


def warm_up(**_: object) -> None:
    """Connect to the keeper and the database, and have the statements prepared that every slice begins with.

    All of it on a task that does not exist. Nothing depends on it: a database that is away is met later.
    """
    client_here()
    nowhere = uuid4()
    try:
        credentials_learn()
        credentials_follow()
        Task.objects.filter(pk=nowhere).first()
        list(calls_open(nowhere))
        claim_rehearse()
    except StreamGone:
        pass
    except Error as error:
        log.warning("warm_up_failed", error=type(error).__name__)
