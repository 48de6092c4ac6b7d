"""Which code the live workers carry."""

from datetime import timedelta

from django.conf import settings

from core.clock import ClockTimestamp
from tasks_app.models import Worker


def _live() -> list[dict[str, dict[str, list[int]]]]:
    since = ClockTimestamp() - timedelta(seconds=settings.LEASE_SECONDS * 2)
    return list(Worker.objects.filter(seen_at__gt=since).values_list("carries", flat=True))


def tool_is_carried(tool: str, version: int) -> bool:
    """Whether a live worker carries that contract version (or one that continues it)."""
    return any(version in carries.get("tools", {}).get(tool, []) for carries in _live())


def agent_is_carried(agent: str, version: int) -> bool:
    """Whether a live worker carries that agent version (or one that continues it)."""
    return any(version in carries.get("agents", {}).get(agent, []) for carries in _live())
