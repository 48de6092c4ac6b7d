"""The resume rules while a task is cancelled: nobody wakes it again, but for a person who settles a doubt."""

from itertools import product

import pytest

from tasks_app.resume import Do, decide
from tasks_app.status import ATTEMPT_OPEN, CallState, EffectClass, Status
from tests.unit.tasks_app.resume_facts import ALL, NOW, at, facts

YES_NO = (False, True)


@pytest.mark.parametrize("effect_class", ALL)
@pytest.mark.parametrize("state", sorted(ATTEMPT_OPEN - {CallState.IN_DOUBT}))
def test_nothing_that_was_attempted_parks_while_its_task_is_cancelled(
    state: CallState, effect_class: EffectClass
) -> None:
    """R03: a cancel leaves these open, to be settled; the task ends with the last of them."""
    names = ("carried", "stopped", "external", "look_first", "maybe_applied", "has_find", "has_read_back")
    for values in product(YES_NO, repeat=len(names)):
        for attempts, look, deadline in product((0, 5), (None, at(-1), at(2)), (None, at(-8), at(8))):
            more = {"attempts": attempts, "next_look_at": look, "deadline": deadline, "status": Status.CANCELLING}
            call = facts(effect_class, state=state, **dict(zip(names, values, strict=True)), **more)
            move = decide(call, NOW)
            assert move.do not in {Do.PARK, Do.SEND}, call
            assert move.do != Do.WAIT or (move.until is not None and move.until > NOW), call


@pytest.mark.parametrize("look", [None, at(2)], ids=["now", "between two tries"])
@pytest.mark.parametrize("state", [CallState.ATTEMPTED, CallState.UNKNOWN])
def test_a_call_without_effect_is_withdrawn_while_its_task_is_cancelled(state: CallState, look: object) -> None:
    """R03: it would not be run again, and there is nothing to be unsure of."""
    assert decide(facts("none", state=state, status=Status.CANCELLING, next_look_at=look), NOW).do == Do.WITHDRAW
