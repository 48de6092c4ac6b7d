"""Status counts and saved views as links that filter the list."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from tasks_app.filter_query import filter_query
from tasks_app.models import SavedView
from tasks_app.selectors.tasks import TaskFilter
from tasks_app.status import Status


def list_url(kept: Mapping[str, str], **more: str) -> str:
    """Return the address of the list with these filters."""
    query = urlencode({**kept, **more})
    return reverse("tasks") + (f"?{query}" if query else "")


def count_links(counts: Mapping[str, int], filters: TaskFilter, kept: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return one link for all and one a status; ``kept``: the other filters, which stay."""
    others = {name: value for name, value in kept.items() if name != "status"}
    shown = {"": sum(counts.values()), **counts}
    if filters.status in set(Status):
        shown.setdefault(filters.status, 0)
    return [
        {
            "status": status,
            "label": "" if status else "All",
            "count": count,
            "url": list_url(others, **({"status": status} if status else {})),
            "is_current": status == filters.status,
        }
        for status, count in shown.items()
    ]


def view_links(views: Sequence[SavedView], filters: TaskFilter, kept: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return one link a saved view; the one whose filter is set now is marked. ``kept``: what names the workspace."""
    here = filter_query(filters)
    return [
        {"pk": view.pk, "name": view.name, "url": list_url({**view.query, **kept}), "is_current": view.query == here}
        for view in views
    ]
