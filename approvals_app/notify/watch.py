"""What is watched: a rule finds the conditions that hold now. Other applications bring their own by its address.

``settings.HANDRAIL_ALERTS`` names every watch, so that this application knows nothing of whoever else declares one.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import CharField, Count, Exists, F, Field, OuterRef, QuerySet, Window
from django.db.models.functions import Cast, RowNumber
from django.utils.module_loading import import_string

from approvals_app.notify.models import Alert

__all__ = ["Condition", "Found", "Watch", "few", "many", "watches"]

# Of one rule, in each workspace: how many begin in one look, the newest first; how many stand before no more begin.
# One workspace with a flood silences no other, and what stands is over when its condition is, never for want of room.
MOST = 500
MOST_STANDING = 5000


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
class Found:
    """What a look found: conditions that have no alert yet, and alerts whose condition no longer holds."""

    new: list[Condition]
    over: list[Alert]


Find = Callable[[QuerySet[Alert]], Found]  # given the open alerts of its rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """One rule of alerts. ``holds_for``: seconds that a condition lasts before it is an alert, unless edited."""

    name: str
    what: str
    find: Find
    holds_for: float = 0.0


def few(conditions: Callable[[], Iterable[Condition]]) -> Find:
    """Find among conditions of which there are never many: all that hold are read."""

    def find(standing: QuerySet[Alert]) -> Found:
        holding = {one.key: one for one in conditions()}
        known = {alert.key: alert for alert in standing}
        new = [one for key, one in holding.items() if key not in known]
        return Found(new=new, over=[alert for key, alert in known.items() if key not in holding])

    return find


def many(
    rows: Callable[[], QuerySet[Any]],
    about: Callable[[Any], Condition],
    *,
    key: str,
    of: "Field[Any, Any]",
    workspace: str = "workspace_id",
) -> Find:
    """Find among rows that are conditions, however many. ``key``, ``workspace``: their fields; ``of``: the key's type.

    The database compares them with the alerts, so that what is read is what has begun or is over.
    """

    def find(standing: QuerySet[Alert]) -> Found:
        counted = standing.order_by().values_list("workspace").annotate(count=Count("pk"))
        full = [one for one, count in counted if count >= MOST_STANDING]
        told = standing.filter(key=Cast(OuterRef(key), CharField()))
        place = Window(RowNumber(), partition_by=F(workspace), order_by=F("pk").desc())
        new = rows().filter(~Exists(told)).exclude(**{f"{workspace}__in": full}).annotate(place=place)
        holds = rows().filter(**{key: Cast(OuterRef("key"), of)})
        over = list(standing.filter(~Exists(holds)))
        return Found(new=[about(one) for one in new.filter(place__lte=MOST)], over=over)

    return find


@cache
def watches() -> tuple[Watch, ...]:
    """Return every watch of this installation."""
    return tuple(import_string(address) for address in settings.HANDRAIL_ALERTS)
