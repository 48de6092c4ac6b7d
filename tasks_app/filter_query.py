"""A filter of tasks as the query of an address, and back."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime

from core.principal import Principal
from tasks_app.forms import FilterForm
from tasks_app.selectors.tasks import TaskFilter

FIELDS = ("text", "status", "agent", "owner", "label", "tool", "since", "until")


def filter_read(given: Mapping[str, str]) -> tuple[TaskFilter, FilterForm]:
    """Return the filter in a query, and its form; a field that does not fit narrows nothing, and the form says so."""
    form = FilterForm(given)
    form.is_valid()
    return TaskFilter(**{name: value for name, value in form.cleaned_data.items() if value}), form


def filter_query(filters: TaskFilter) -> dict[str, str]:
    """Return the fields that narrow something, as they stand in an address."""
    return {name: _text(value) for name, value in asdict(filters).items() if value and name in FIELDS}


def filter_kept(given: Mapping[str, str], principal: Principal) -> dict[str, str]:
    """Return what an address of the list keeps of a query: the filter and, for a person of several, the workspace.

    Whatever else was sent is left aside.
    """
    filters, _ = filter_read(given)
    return filter_query(filters) | principal.kept


def _text(value: object) -> str:
    return f"{value.astimezone(UTC):%Y-%m-%dT%H:%M}" if isinstance(value, datetime) else str(value)
