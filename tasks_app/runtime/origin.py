"""What a copy began with: state, settled calls, ended waits and children of its original up to a step."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.db.models import Q

from tasks_app.models import Event, Task
from tasks_app.runtime.recorded import data_whole
from tasks_app.status import CallState
from tasks_app.view import CallView

_KEPT = "_origin"


def origin_of(task: Task) -> Mapping[str, Any]:
    """Return ``copied_from`` of a copy, {} of any other task; read once for a row in memory."""
    known: Mapping[str, Any] | None = task.__dict__.get(_KEPT)
    if known is None:
        large_or_copy = Q(data__has_key="copied_from") | Q(data__has_key="$blob")
        created = Event.objects.filter(large_or_copy, stream=task.pk, seq=1).values_list("data", flat=True).first()
        known = (data_whole(task.pk, created).get("copied_from") if created else None) or {}
        task.__dict__[_KEPT] = known
    return known


def origin_call(task: Task, name: str) -> CallView | None:
    """Return a call of the original under that name, as it was settled when the copy was made."""
    kept = origin_of(task).get("calls", {}).get(name)
    return CallView(**{**kept, "state": CallState(kept["state"])}) if kept else None


def call_kept(view: CallView) -> dict[str, Any]:
    """Return the form in which a copy keeps a call of its original."""
    return asdict(view)
