"""One event whole: every field, what was altered, what is kept apart."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from core.arguments import in_order
from tasks_app.call_arguments import arguments_shown
from tasks_app.models import Event, Task
from tasks_app.record.events import KINDS
from tasks_app.record.events.base import field_names
from tasks_app.record.payload import BLOB, ORIGINAL
from tasks_app.record.stored import ALTERED
from tasks_app.selectors.events import event_get
from tasks_app.timeline.kept import Kept, kept_in, kept_of
from tasks_app.timeline.life import Life, call_life

# Not masked (they are never altered), yet supplied by agents all the same.
_AGENTS = {"call.intended": frozenset({"arguments"})}
_OURS = frozenset({"system", "sweeper", "keeper"})
_LABELS = {"digest": "Digest of the call"}  # beside the event's own
LINE = 200  # characters of a list that is shown as one line
_MOMENTS = frozenset({"send_by", "deadline", "not_before", "decide_by", "run_by", "until", "wait_until"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One field of an event. ``how``: plain, agent, arguments or moment."""

    name: str
    how: str
    value: Any
    kept: list[Kept] = field(default_factory=list)
    altered: str = ""  # why, where masker or normaliser had to change it
    original: Kept | None = None
    actor: str = ""

    @property
    def label(self) -> str:
        """The field's name in plain letters."""
        return _LABELS.get(self.name, self.name.replace("_", " ").capitalize())

    @property
    def attributed(self) -> str:
        """The label of a text that is not ours, and whose it is: a person's words are no machine's."""
        kind, _, name = self.actor.partition(":")
        if kind == "person":
            return f"{self.label}, as {name} wrote it"
        return self.label if kind in _OURS else f"{self.label}, agent-supplied"


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """An event and its fields; ``meaning``: of its kind, as published; ``life``: of the call that it is about."""

    event: Event
    meaning: str
    fields: list[Shown]
    life: Life | None

    @property
    def digest(self) -> str:
        """The digest in the record's chain."""
        return bytes(self.event.digest).hex()


def event_detail(*, task: Task, seq: int) -> Detail:
    """Return an event of a task with all of its fields. Raises NotFound."""
    event = event_get(task=task, seq=seq)
    cls = KINDS.get(event.kind)
    meaning = (cls.__doc__ or "").strip().split("\n")[0] if cls else ""
    life = call_life(task=task, event=event)
    return Detail(event=event, meaning=meaning, fields=list(_fields(event)), life=life)


def _fields(event: Event) -> Iterator[Shown]:
    foreign = KINDS[event.kind].FOREIGN if event.kind in KINDS else frozenset(event.data)
    foreign |= _AGENTS.get(event.kind, frozenset())
    altered = event.data.get(ALTERED, {})
    for name, value in _ordered(event).items():
        if name == BLOB:  # the event's data is kept apart as a whole
            yield _shown("everything", {BLOB: value}, agents=True, altered={}, actor=event.actor)
        elif name != ALTERED and not _says_nothing(name, value, event.actor):
            yield _shown(name, value, agents=name in foreign, altered=altered.get(name, {}), actor=event.actor)


def _says_nothing(name: str, value: Any, actor: str) -> bool:
    """Whether a field is empty, or names again who is named already."""
    return value == "" or (name == "by" and actor.endswith(f":{value}"))


def _ordered(event: Event) -> Mapping[str, Any]:
    """Return the data in the order in which the kind declares it, a call's arguments as their tool's schema does."""
    kind = KINDS.get(event.kind)
    data = in_order(event.data, field_names(kind) if kind else ())
    planned = data.get("arguments")
    if event.kind == "call.intended" and isinstance(planned, Mapping) and BLOB not in planned:
        tool, version = str(data.get("tool")), int(data.get("contract_version", 0))
        data["arguments"] = arguments_shown(tool=tool, version=version, arguments=planned)
    return data


def _shown(name: str, value: Any, *, agents: bool, altered: Mapping[str, Any], actor: str) -> Shown:
    kept = list(kept_in(value))
    original = kept_of(altered[ORIGINAL]) if ORIGINAL in altered else None
    why = ", ".join(map(str, altered.get("why", [])))
    how, seen = _how(name, value, agents)
    return Shown(name=name, how=how, value=seen, kept=kept, altered=why, original=original, actor=actor)


def _how(name: str, value: Any, agents: bool) -> tuple[str, Any]:
    if isinstance(value, Mapping) and BLOB in value:
        return "agent", value[BLOB].get("head", "")
    if name in _MOMENTS and isinstance(value, str):
        return "moment", _moment(value)
    if isinstance(value, Mapping):
        return "arguments", {key: _headed(item) for key, item in value.items()}
    if isinstance(value, list) and not agents and _is_short(value):
        return "plain", ", ".join(map(str, value))
    if isinstance(value, list):
        return "arguments", {str(at): _headed(item) for at, item in enumerate(value, start=1)}
    return ("agent" if agents and isinstance(value, str) else "plain"), value


def _is_short(values: list[Any]) -> bool:
    """Whether a list reads well as one line: names or numbers, a few."""
    plain = all(isinstance(one, str | int) and not isinstance(one, bool) for one in values)
    return plain and bool(values) and sum(len(str(one)) for one in values) <= LINE


def _headed(value: Any) -> Any:
    """Return a value with the beginnings of what is kept apart in place of the references."""
    if isinstance(value, list):
        return [_headed(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    if BLOB in value:
        return f"{value[BLOB].get('head', '')}… ({value[BLOB]['size']:,} bytes, kept apart)"
    return {key: _headed(item) for key, item in value.items()}


def _moment(value: str) -> datetime | str:
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        return value
