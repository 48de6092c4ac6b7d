"""``step.decided``: what an agent decided, with the change of its state and what the question cost."""

from dataclasses import dataclass, field
from typing import Any

from tasks_app.decisions import UNCHANGED, Decision
from tasks_app.record.append import Seq
from tasks_app.record.events import StepDecided
from tasks_app.runtime.asking import Asked
from tasks_app.runtime.view_make import Book


@dataclass(slots=True)
class Decided:
    """``step.decided`` and the task changes that go with it."""

    event: StepDecided
    task: dict[str, Any] = field(default_factory=dict)
    state: dict[str, Any] | None = None


def step_decided(
    book: Book,
    decision: Decision,
    step: int,
    asked: Asked,
    does: str,
    *,
    names: list[str] | None = None,
    refused: list[dict[str, Any]] | None = None,
) -> Decided:
    """Return ``step.decided`` with what changes in the task's row; state as a patch where that is shorter."""
    change = None if decision.state is UNCHANGED else book.state.change_to(decision.state)
    event = StepDecided(
        step=step, does=does, names=names, refused=refused, note=decision.note or None, state=change, **asked.fields()
    )
    task: dict[str, Any] = {"step": step, "spent": asked.spent(), "bad_decisions": 0}
    if change and "full" in change:
        task["state_seq"] = Seq(1)
    return Decided(event=event, task=task, state=change)
