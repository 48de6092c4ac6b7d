"""A fresh process of the pool makes ready before its first slice: a takeover often lands on a child just born."""

from uuid import uuid4

import structlog
from django.db import Error

from tasks_app.credentials.known import credentials_learn
from tasks_app.keeper.client import client_here
from tasks_app.models import Call, Task
from tasks_app.record.append import StreamGone, append
from tasks_app.record.events import SliceClaimed

log = structlog.get_logger(__name__)


def warm_up(**_: object) -> None:
    """Connect to the keeper and the database, and have the statements prepared that every slice begins with.

    All of it on a task that does not exist. Nothing depends on it: a database that is away is met later.
    """
    client_here()
    nowhere = uuid4()
    try:
        credentials_learn()
        Task.objects.filter(pk=nowhere).first()
        Call.objects.filter(task=nowhere).first()
        event = SliceClaimed(worker="", nonce="", host="", pid=0, place="")
        append(stream=nowhere, events=[event], actor="", task={"wake_at": None})
    except StreamGone:
        pass
    except Error as error:
        log.warning("warm_up_failed", error=type(error).__name__)
