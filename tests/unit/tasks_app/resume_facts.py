"""Facts of a call for the tests of the resume rules."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tasks_app.resume import CallFacts, Move, after_look_up
from tasks_app.status import CallState, EffectClass, Status

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
ALL = list(EffectClass)


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def facts(effect_class: EffectClass | str = EffectClass.KEYED, **more: Any) -> CallFacts:
    """An attempt of 20 s ago, whose deadline was 8 s ago; lag 1 s, timeout 10 s."""
    base: dict[str, Any] = {
        "state": CallState.ATTEMPTED,
        "status": Status.RUNNING,
        "attempts": 1,
        "first_attempt_at": at(-20),
        "deadline": at(-8),
        "has_find": effect_class == EffectClass.READABLE,
        "maybe_applied": True,
    }
    return CallFacts(effect_class=EffectClass(effect_class), **{**base, **more})


def look(call: CallFacts, answer: str, *, matches: bool = True) -> Move:
    return after_look_up(call, answer=answer, matches=matches, now=NOW)
