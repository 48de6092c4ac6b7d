"""What tests of agents and tools need in place of a running task: a view, a settled call, a call's context. Pure."""

import time
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any
from uuid import UUID

from tasks_app.contracts import CallContext
from tasks_app.status import EFFECT_HOLDS, CallState
from tasks_app.view import CallView, TaskView

NO_TASK = UUID(int=0)
NOTHING: Mapping[str, Any] = MappingProxyType({})


def view_of(intent: Mapping[str, Any], *, calls: Iterable[CallView] = (), state: Any = None, **more: Any) -> TaskView:
    """Return a view as an agent is called with. ``more``: any other field of it (waits, children, refused, ask)."""
    fields: dict[str, Any] = {
        "task": NO_TASK,
        "agent": "",
        "version": 1,
        "title": "",
        "labels": NOTHING,
        "step": 0,
        "waits": NOTHING,
        "children": NOTHING,
        "budget_left": NOTHING,
        "ask": _no_model,
        "transcript": list,
        "progress": lambda text: None,
    }
    by_name = {call.name: call for call in calls}
    return TaskView(**fields | {"intent": intent, "calls": by_name, "state": state} | more)


def call_settled(
    name: str,
    *,
    tool: str,
    arguments: Mapping[str, Any] = NOTHING,
    state: CallState = CallState.VERIFIED,
    answer: Any = None,
    reference: str = "",
    refusal: str = "",
) -> CallView:
    """Return a settled call as an agent sees it. ``refusal``: the reason, where it had no effect."""
    return CallView(
        name=name,
        tool=tool,
        state=state,
        arguments=arguments,
        answer=answer,
        reference=reference,
        refusal={"code": state.value, "reason": refusal} if refusal else None,
        ok=state in EFFECT_HOLDS,
        unverified=state == CallState.UNKNOWN_SETTLED,
    )


def context_of(*, key: str, attempt: int = 1, seconds: float = 5.0, **more: Any) -> CallContext:
    """Return what a tool is told about its call; ``seconds`` until its deadline."""
    fields: dict[str, Any] = {"task": str(NO_TASK), "name": "test", "epoch": 1}
    return CallContext(key=key, attempt=attempt, deadline=time.monotonic() + seconds, **fields | more)


def _no_model(question: Any, **more: Any) -> Any:
    raise AssertionError("The agent asked a model; give the view an `ask` of yours.")
