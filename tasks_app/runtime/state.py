"""The agent's state: stored as patches on the last full copy, a full copy when patches outweigh it."""

import json
from copy import deepcopy
from typing import Any

import jsonpatch

from tasks_app.models import Event, Task
from tasks_app.runtime.origin import origin_of
from tasks_app.runtime.recorded import data_whole


class AgentState:
    """The state as this slice knows it, read from the record at first use."""

    def __init__(self, task: Task) -> None:
        self._task, self._read = task, False
        self._value: Any = None
        self._patch_bytes = 0

    @property
    def value(self) -> Any:
        """The current state (a copy may be changed freely)."""
        if not self._read:
            self._load()
        return deepcopy(self._value)

    def _load(self) -> None:
        if not self._task.state_seq:
            self._value = origin_of(self._task).get("state")
        rows = Event.objects.filter(
            stream=self._task.pk, kind="step.decided", data__has_key="state", seq__gte=self._task.state_seq
        ).order_by("seq")
        for data in rows.values_list("data", flat=True):
            self._value = state_after(self._value, data_whole(self._task.pk, data)["state"])
            self._patch_bytes += len(json.dumps(data["state"]))
        self._read = True

    def change_to(self, new: Any) -> dict[str, Any] | None:
        """Return how to store ``new``: {"patch": ...}, {"full": ...}, or None where nothing changed."""
        old = self.value
        if old == new and self._task.state_seq:
            return None
        full = {"full": new}
        if not self._task.state_seq:
            return full
        patch = jsonpatch.make_patch(old, new).patch
        size = len(json.dumps(patch, ensure_ascii=False))
        if self._patch_bytes + size > len(json.dumps(new, ensure_ascii=False)):
            return full
        return {"patch": patch}

    def stored(self, change: dict[str, Any]) -> None:
        """Take over what was committed, in its stored form (masked, normalised)."""
        self._value = state_after(self.value, change)
        self._patch_bytes = 0 if "full" in change else self._patch_bytes + len(json.dumps(change))


def state_after(old: Any, change: dict[str, Any]) -> Any:
    """Return the state after one stored change. Pure."""
    return deepcopy(change["full"]) if "full" in change else jsonpatch.apply_patch(old, change["patch"])


def state_at(task: Task, seq: int) -> Any:
    """Return the state as of sequence ``seq`` (for copies and the past)."""
    value: Any = origin_of(task).get("state")
    rows = Event.objects.filter(stream=task.pk, kind="step.decided", data__has_key="state", seq__lte=seq)
    for data in rows.order_by("seq").values_list("data", flat=True):
        value = state_after(value, data_whole(task.pk, data)["state"])
    return value
