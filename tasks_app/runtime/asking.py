"""Asking a model through the record: reserve, commit, ask, and let the decision carry the answer (D01)."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from core.boundaries import Boundary, Position, cross
from tasks_app.record.events import ContextSelected
from tasks_app.runtime.selection import WHOLE_EVERY, Last, changed, part_key, selection_at
from tasks_app.runtime.session import Session


class ModelAnswer(Protocol):
    """What ``ask`` returns: the answer, and how many tokens it cost."""

    output: Any
    tokens: int


class OverBudget(Exception):
    """The question's largest cost does not fit into what is left of the budget."""


class Asked:
    """Collects what one decision asked: its last model, answer and usage go into ``step.decided``."""

    def __init__(self, session: Session, step: int) -> None:
        self.session, self.step = session, step
        self.count = 0
        self.reserved = 0
        self.used = 0
        self.model: str | None = None
        self.answers: list[Any] = []

    def __call__(
        self,
        question: Any,
        *,
        model: str,
        ask: Any,
        largest_cost: int,
        instructions: str = "",
        context: Sequence[Mapping[str, Any]] | None = None,
    ) -> Any:
        """Commit ``context.selected`` with its reservation, then ask. A death in between: asked again, both counted."""
        self._afford(largest_cost)
        self.count += 1
        self.model = model
        spent = self.session.task.spent
        parts = [dict(part) for part in context] if context is not None else [{"role": "user", "content": question}]
        before, keys = self._before(), tuple(map(part_key, parts))
        selected = self._selected(before, parts, keys, instructions, model=model, largest_cost=largest_cost)
        done = self.session.commit_again(
            lambda: ([selected], {"task": {"spent": {**spent, "tokens": spent.get("tokens", 0) + largest_cost}}}),
            boundary=Boundary.ASK,
        )
        changes = before.changes + 1 if before and selected.since else 0
        self.session.selection = Last(seq=done.head_seq, keys=keys, instructions=instructions, changes=changes)
        self.reserved += largest_cost
        answer = ask(question)
        cross(Boundary.ASK, Position.AFTER_RECEIVE, task=self.session.lease.task, epoch=self.session.lease.token.epoch)
        self.used += int(getattr(answer, "tokens", largest_cost))
        self.answers.append(getattr(answer, "output", answer))
        return self.answers[-1]

    def _before(self) -> Last | None:
        """Return the selection before this one; a task that has spent nothing on models had none."""
        session = self.session
        if session.selection is None and session.task.spent.get("tokens"):
            found = selection_at(session.lease.task)
            session.selection = found.last if found else None
        return session.selection

    def _selected(
        self,
        before: Last | None,
        parts: list[Any],
        keys: Sequence[str],
        instructions: str,
        *,
        model: str,
        largest_cost: int,
    ) -> ContextSelected:
        fixed: dict[str, Any] = {"step": self.step, "ask": self.count, "model": model, "reserved_tokens": largest_cost}
        if before is None or before.changes + 1 >= WHOLE_EVERY:
            return ContextSelected(**fixed, added=parts, dropped=[], instructions=instructions or None)
        dropped, added = changed(before.keys, keys)
        new = parts[len(parts) - len(added) :]
        said = None if instructions == before.instructions else instructions
        return ContextSelected(**fixed, added=new, dropped=dropped, instructions=said, since=before.seq)

    def _afford(self, largest_cost: int) -> None:
        most = self.session.task.budget.get("tokens")
        if most is not None and self.session.task.spent.get("tokens", 0) + largest_cost > most:
            raise OverBudget(f"The question may cost {largest_cost} tokens; the budget of {most} does not allow it.")

    def spent(self) -> dict[str, Any]:
        """Return the task's counters with the reservations replaced by what was really used."""
        spent: dict[str, Any] = self.session.task.spent
        if not self.count:
            return spent
        return {**spent, "tokens": max(spent.get("tokens", 0) - self.reserved + self.used, 0)}

    def fields(self) -> dict[str, Any]:
        """Return model, answer and usage for ``step.decided``."""
        if not self.count:
            return {}
        answer = self.answers[-1] if len(self.answers) == 1 else self.answers
        usage = {"tokens": self.used, "reserved": self.reserved, "questions": self.count}
        return {"model": self.model, "answer": answer, "usage": usage}
