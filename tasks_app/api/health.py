"""Whether this process lives, and whether everything that work needs is there."""

from datetime import timedelta
from typing import Any

import redis
from django.conf import settings
from django.db import connection
from django.http import HttpRequest
from kombu import Connection
from ninja import Router, Schema

from core.clock import ClockTimestamp
from core.errors import Unavailable
from tasks_app.models import Worker

router = Router()
WAIT = 2  # seconds for the broker's answer


class Ready(Schema):
    """Each part that work needs: "ok", or what is wrong with it."""

    ready: bool
    parts: dict[str, str]


@router.get("/health", auth=None)
def health(request: HttpRequest) -> dict[str, str]:
    """Say that this process answers; it looks at nothing else."""
    return {"status": "ok"}


@router.get("/ready", auth=None, response=Ready)
def ready(request: HttpRequest) -> Any:
    """Look at the database, the broker, the workers and the sweepers; 503 names what is missing."""
    parts = {"database": _database(), "broker": _broker()}
    if parts["database"] == "ok":
        parts |= {"worker": _seen("worker"), "sweeper": _seen("sweeper")}
    if set(parts.values()) != {"ok"}:
        missing = ", ".join(name for name, said in parts.items() if said != "ok")
        raise Unavailable(f"Not ready: {missing}. Nothing that was recorded is lost.", parts=parts)
    return {"ready": True, "parts": parts}


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Exception:
        return "does not answer; nothing that was recorded is lost"
    return "ok"


def _broker() -> str:
    try:
        with Connection(settings.CELERY_BROKER_URL, connect_timeout=WAIT) as broker:
            broker.ensure_connection(max_retries=1, timeout=WAIT)
    except (OSError, redis.RedisError):
        return "does not answer; the sweeper re-issues wake-ups when it is back"
    except Exception as error:
        return f"does not answer ({type(error).__name__})"
    return "ok"


def _seen(what: str) -> str:
    alive = Worker.objects.filter(seen_at__gt=ClockTimestamp() - timedelta(seconds=settings.LEASE_SECONDS))
    found = alive.filter(pool="sweeper") if what == "sweeper" else alive.exclude(pool="sweeper")
    return "ok" if found.exists() else f"no {what} has been seen for {settings.LEASE_SECONDS:g} s; start one"
