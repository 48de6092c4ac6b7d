"""What goes into one append: events and the row changes that follow from them, counted together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tasks_app.record.append import CallChange, Seq
from tasks_app.record.events import Event


@dataclass(slots=True)
class Inside:
    """What a transaction's first part adds: events before and after the commit's own, and changes of calls."""

    before: Sequence[Event] = ()
    after: Sequence[Event] = ()
    calls: Sequence[CallChange] = ()


@dataclass(slots=True)
class Batch:
    """Events and row changes that go into one append; sequences are relative to its own events."""

    events: list[Event] = field(default_factory=list)
    task: dict[str, Any] = field(default_factory=dict)
    calls: dict[str, CallChange] = field(default_factory=dict)

    def add(
        self, events: Sequence[Event], *, task: Mapping[str, Any] | None = None, calls: Sequence[CallChange] = ()
    ) -> None:
        """Append to the batch; ``Seq`` values count from the first of ``events``."""
        shift = len(self.events)
        self.events += events
        self.task |= {name: _shifted(value, shift) for name, value in (task or {}).items()}
        for change in calls:
            values = {name: _shifted(value, shift) for name, value in change.set.items()}
            known = self.calls.get(change.name)
            self.calls[change.name] = CallChange(
                name=change.name,
                new=change.new or (known is not None and known.new),
                set={**(known.set if known else {}), **values},
            )

    def drop(self, event: Event) -> None:
        """Take an event out that nothing here points at; the ones behind it move up."""
        at = self.events.index(event)
        del self.events[at]
        self.task = {name: _shifted(value, -1, at) for name, value in self.task.items()}
        self.calls = {
            name: CallChange(name=name, new=c.new, set={k: _shifted(v, -1, at) for k, v in c.set.items()})
            for name, c in self.calls.items()
        }

    def with_added(self, added: Inside, shift: int) -> "Batch":
        """Return the batch with what its transaction adds, before and after its own events (``shift`` ride ahead)."""
        by = len(added.before)
        sent = Batch(
            events=[*self.events[:shift], *added.before, *self.events[shift:], *added.after],
            task={name: _shifted(value, by, shift) for name, value in self.task.items()},
            calls={
                name: CallChange(name=name, new=c.new, set={k: _shifted(v, by, shift) for k, v in c.set.items()})
                for name, c in self.calls.items()
            },
        )
        sent.add([], calls=added.calls)
        return sent


def _shifted(value: Any, by: int, behind: int = 0) -> Any:
    """Move a sequence that counts beyond ``behind``."""
    return Seq(value.ordinal + by) if isinstance(value, Seq) and value.ordinal > behind else value
