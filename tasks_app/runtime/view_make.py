"""Building the view that an agent is called with."""

from typing import Any

from tasks_app.models import Task
from tasks_app.runtime.asking import Asked
from tasks_app.runtime.book import Calls, Ended, transcript
from tasks_app.runtime.session import Session
from tasks_app.runtime.state import AgentState
from tasks_app.view import TaskView


class Book:
    """What one slice has read of the record for its agent."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.calls = Calls(session)
        self.waits = Ended(session.task, "wait.ended")
        self.children = Ended(session.task, "child.settled")
        self.state = AgentState(session.task)
        self.refused: tuple[dict[str, Any], ...] = ()

    def view(self, asked: Asked) -> TaskView:
        """Return the view for the next decision."""
        task = self.session.task
        return TaskView(
            task=task.pk,
            agent=task.agent,
            version=task.agent_version,
            intent=task.intent,
            title=task.title,
            labels=task.labels,
            state=self.state.value,
            step=task.step,
            calls=self.calls,
            waits=self.waits,  # type: ignore[arg-type]
            children=self.children,  # type: ignore[arg-type]
            budget_left=budget_left(task),
            refused=self.refused,
            ask=asked,
            transcript=lambda: transcript(task),
            progress=self.session.progress,
        )


def budget_left(task: Task) -> dict[str, float]:
    """Return what is left of each limit that the task has: steps, seconds, tokens."""
    spent = {**task.spent, "steps": task.step}
    return {name: most - spent.get(name, 0) for name, most in task.budget.items()}


def budget_exceeded(task: Task) -> str | None:
    """Return the sentence for a budget that is used up, or None."""
    for name, left in budget_left(task).items():
        if left <= 0:
            return f"The budget of {task.budget[name]:g} {name} is used up."
    return None
