"""What is watched: a rule finds the conditions that hold now. Other applications bring their own by its address.

``settings.HANDRAIL_ALERTS`` names every watch, so that this application knows nothing of whoever else declares one.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string

__all__ = ["Condition", "Watch", "watches"]

MOST = 500  # conditions of one rule that are alerts at once; what stands longest comes first


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """Something that should not last. ``key`` names it within its rule.

    ``title`` and ``todo`` go outside: they name tools and agents, never arguments. ``address``: the page about it.
    """

    key: str
    title: str
    todo: str
    address: str
    workspace: UUID | None = None  # None: the whole installation


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """One rule of alerts. ``holds_for``: seconds that a condition lasts before it is an alert, unless edited."""

    name: str
    what: str
    find: Callable[[], Iterable[Condition]]
    holds_for: float = 0.0


@cache
def watches() -> tuple[Watch, ...]:
    """Return every watch of this installation."""
    return tuple(import_string(address) for address in settings.HANDRAIL_ALERTS)
