"""The desk's figures of the last day in one line, for an overview (``approvals/_figures_strip.html``)."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User

from approvals_app.rights import workspaces_of
from approvals_app.selectors.figures import Figure, figures_total
from core.access import Right
from core.clock import database_now

SPAN = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class FiguresStrip:
    """What happened on the desk since a moment, over all tools and people."""

    since: datetime
    all: Figure


def figures_strip(*, user: User) -> FiguresStrip:
    """Return the figures of a person's workspaces over the last day."""
    since = database_now() - SPAN
    workspaces = workspaces_of(user=user, right=Right.APPROVALS_READ)
    return FiguresStrip(since=since, all=figures_total(workspaces=workspaces, since=since))
