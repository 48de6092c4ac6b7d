"""What every page's frame needs: where one can go, what waits, where one is."""

from dataclasses import dataclass
from typing import Any, cast

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils import timezone

from approvals_app.notify.selectors.alerts import alerts_count_in
from approvals_app.rights import Roles, roles_held, workspaces_with
from approvals_app.selectors.waiting import approvals_waiting_count
from chaos_app.selectors.told import DrillsTold, cells_of, drills_told, proofs_of
from core.access import Right, rights_of
from core.places import way_back

__all__ = ["PLACES", "DrillsTold", "cells_of", "drills_told", "frame", "proofs_of", "theme"]

THEMES = ("auto", "light", "dark")
THEME_COOKIE = "theme"


@dataclass(frozen=True)
class Place:
    """One entry of the navigation. ``key`` follows ``g`` on the keyboard."""

    name: str
    label: str
    key: str
    right: Right | None = None  # only for those who have it in one of their workspaces
    in_workspace: bool = False  # shows one workspace: its link stays in the reader's


@dataclass(frozen=True)
class Link:
    """A place as it is shown on one page."""

    place: Place
    url: str
    is_current: bool


# In the order of the navigation; a place whose address does not exist is left out.
PLACES = (
    Place("overview", "Overview", "o", in_workspace=True),
    Place("tasks", "Tasks", "t", in_workspace=True),
    Place("approvals", "Approvals", "a"),
    Place("alerts", "Alerts", "n"),
    Place("task-start", "Start a task", "s", in_workspace=True),
    Place("effects", "Effects", "e", in_workspace=True),
    Place("tools", "Tools", "l", in_workspace=True),
    Place("drills", "Drills", "d", in_workspace=True),
    Place("workers", "Workers", "w", in_workspace=True),
    Place("audit", "Audit", "u", right=Right.AUDIT_READ, in_workspace=True),
    Place("admin:index", "Admin", "m", right=Right.ADMINISTER),
)


def _address(place: Place) -> str | None:
    try:
        return reverse(place.name)
    except NoReverseMatch:
        return None


def _links(request: HttpRequest, held: Roles) -> list[Link]:
    rights = rights_of(role for _, role in held)
    places = [place for place in PLACES if place.right is None or place.right in rights]
    found = [(place, url) for place in places if (url := _address(place))]
    # The longest address that the page's own begins with is where the reader is; every address begins with "/".
    home = request.path == "/"
    here = max((url for _, url in found if request.path.startswith(url) and (home or url != "/")), key=len, default="")
    return [Link(place, url, is_current=url == here) for place, url in found]


def theme(request: HttpRequest) -> str:
    """Return the colour theme that the reader chose: light, dark, or auto (as the system says)."""
    chosen = request.COOKIES.get(THEME_COOKIE, "auto")
    return chosen if chosen in THEMES else "auto"


def frame(request: HttpRequest) -> dict[str, Any]:
    """Context processor of the page frame."""
    user = getattr(request, "user", None)
    signed_in = bool(user and user.is_authenticated)
    return {
        "environment": settings.HANDRAIL_ENVIRONMENT,
        "theme": theme(request),
        "themes": THEMES,
        "way_back": way_back(request),  # a page that answers a form names its own
        "now": timezone.now(),
        **(_waiting(request, cast(User, user)) if signed_in else _NOTHING),
    }


_NOTHING: dict[str, Any] = {"approvals_waiting": 0, "alerts_standing": 0, "places": []}


def _waiting(request: HttpRequest, user: User) -> dict[str, Any]:
    """Return what a person's roles decide; they are read once for all of it, since every page asks."""
    held = roles_held(user=user)
    decides = workspaces_with(held, Right.APPROVALS_DECIDE)
    return {
        "approvals_waiting": approvals_waiting_count(user=user, workspaces=decides),
        "alerts_standing": alerts_count_in(workspaces=workspaces_with(held, Right.TASKS_READ)),
        "places": _links(request, held),
    }
