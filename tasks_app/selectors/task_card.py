"""The head of a task's page: its facts, its calls, its notices, and what may be done."""

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from core.principal import Principal
from core.words import Word, word
from tasks_app.models import Call, Task
from tasks_app.runtime.view_make import budget_left
from tasks_app.selectors.call_splits import call_splits
from tasks_app.selectors.task_banners import Banner, task_banners
from tasks_app.status import OPEN, CallState, EffectClass
from tasks_app.task_actions import Action, task_actions
from tasks_app.timeline.call_split import CallSplit

CALLS_SHOWN = 12
FAMILY_SHOWN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLine:
    """One call as the page lists it. ``split``: how its time went, where that was added up."""

    call: Call
    split: CallSplit | None = None

    @property
    def seq(self) -> int:
        """The event that tells most about it now."""
        call = self.call
        return call.settled_seq or call.answer_seq or call.attempted_seq or call.intended_seq

    @property
    def word(self) -> Word:
        """How its state is shown: an answer without an effect behind it needs no check."""
        if self.call.effect_class == EffectClass.NONE and self.call.state == CallState.ANSWERED:
            return Word("done", "Answered", "ok")
        return word("call", self.call.state)

    @property
    def in_doubt(self) -> bool:
        """Whether a person must record what happened."""
        return self.call.state == CallState.IN_DOUBT


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCard:
    """Everything above and beside the timeline."""

    task: Task
    banners: list[Banner]
    actions: list[Action]
    calls: list[CallLine]
    more_calls: int
    budget: list[dict[str, Any]]
    children: list[Task]


def task_card(*, task: Task, principal: Principal) -> TaskCard:
    """Return the head of a task's page, as this person sees it."""
    newest = task.calls.order_by("-step", "-ordinal")
    open_calls = list(newest.filter(state__in=sorted(OPEN))[:CALLS_SHOWN])
    calls = _calls(newest, open_calls)
    return TaskCard(
        task=task,
        banners=task_banners(task=task, open_calls=open_calls if len(open_calls) < CALLS_SHOWN else None),
        actions=task_actions(task, principal),
        calls=calls,
        more_calls=task.calls.count() - len(calls) if len(calls) == CALLS_SHOWN else 0,
        budget=_budget(task),
        children=list(task.children.order_by("-pk")[:FAMILY_SHOWN]),
    )


def _calls(newest: QuerySet[Call], open_calls: list[Call]) -> list[CallLine]:
    """Return the calls that are open, then the latest others; in their order."""
    # Two readings, each along an index: a long task has tens of thousands of calls.
    rows = [*open_calls, *newest.exclude(state__in=sorted(OPEN))[: CALLS_SHOWN - len(open_calls)]]
    splits = call_splits(rows[0].task_id, rows) if rows else {}
    in_order = sorted(rows, key=lambda row: (row.step, row.ordinal))
    return [CallLine(call=row, split=splits.get(row.name)) for row in in_order]


def _budget(task: Task) -> list[dict[str, Any]]:
    left = budget_left(task)
    return [{"name": name, "left": max(0, left[name]), "most": task.budget[name]} for name in sorted(left)]
