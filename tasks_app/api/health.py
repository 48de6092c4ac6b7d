"""Whether this process lives, and whether everything that work needs is there."""

from typing import Any

from django.conf import settings
from django.db import connection
from django.http import HttpRequest
from ninja import Router, Schema

from core.errors import Unavailable
from tasks_app.sweeper_row import POOL
from tasks_app.wake import wake_ups_waiting
from tasks_app.workers import workers_alive

router = Router()


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
    # Asked by the same short-tempered connection that sends wake-ups.
    return "ok" if wake_ups_waiting() is not None else "does not answer; the sweeper re-issues wake-ups when it is back"


def _seen(what: str) -> str:
    alive = workers_alive()
    found = alive.filter(pool=POOL) if what == POOL else alive.exclude(pool=POOL)
    return "ok" if found.exists() else f"no {what} has been seen for {settings.LEASE_SECONDS:g} s; start one"
