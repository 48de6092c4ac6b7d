"""Asking a model through the record: reserve, commit, ask, and let the decision carry the answer (D01)."""

from typing import Any, Protocol

from core.boundaries import Boundary, Position, cross
from tasks_app.record.events import ContextSelected
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
        self, question: Any, *, model: str, ask: Any, largest_cost: int, instructions: str = "", added: Any = None
    ) -> Any:
        """Commit ``context.selected`` with its reservation, then ask. A death in between: asked again, both counted."""
        self._afford(largest_cost)
        self.count += 1
        self.model = model
        spent = self.session.task.spent
        context = added if isinstance(added, list) else [{"role": "user", "content": question}]
        self.session.commit_again(
            lambda: (
                [
                    ContextSelected(
                        step=self.step,
                        ask=self.count,
                        model=model,
                        added=context,
                        dropped=[],
                        reserved_tokens=largest_cost,
                        instructions=instructions or None,
                    )
                ],
                {"task": {"spent": {**spent, "tokens": spent.get("tokens", 0) + largest_cost}}},
            ),
            boundary=Boundary.ASK,
        )
        self.reserved += largest_cost
        answer = ask(question)
        cross(Boundary.ASK, Position.AFTER_RECEIVE, task=self.session.lease.task, epoch=self.session.lease.token.epoch)
        self.used += int(getattr(answer, "tokens", largest_cost))
        self.answers.append(getattr(answer, "output", answer))
        return self.answers[-1]

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
