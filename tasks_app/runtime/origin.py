"""What a copy began with: state, settled calls, ended waits and children of its original up to a step."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from tasks_app.models import Task
from tasks_app.runtime.recorded import event_data
from tasks_app.status import CallState
from tasks_app.view import CallView

_KEPT = "_origin"


def origin_of(task: Task) -> Mapping[str, Any]:
    """Return ``copied_from`` of a copy, {} of any other task; read once for a row in memory."""
    if not task.is_copy:
        return {}
    known: Mapping[str, Any] | None = task.__dict__.get(_KEPT)
    if known is None:
        known = event_data(task.pk, 1)["copied_from"]
        task.__dict__[_KEPT] = known
    return known


def origin_call(task: Task, name: str) -> CallView | None:
    """Return a call of the original under that name, as it was settled when the copy was made."""
    kept = origin_of(task).get("calls", {}).get(name)
    return CallView(**{**kept, "state": CallState(kept["state"])}) if kept else None


def call_kept(view: CallView) -> dict[str, Any]:
    """Return the form in which a copy keeps a call of its original."""
    return asdict(view)
