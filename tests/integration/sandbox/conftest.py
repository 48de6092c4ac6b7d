import time

import pytest

from tasks_app.contracts import Contract
from tasks_app.fakes import context_of
from tasks_app.runtime.acting import Outcome, call_act
from tasks_app.sandbox.levels import NAMESPACES, level_here
from tests.people import people  # noqa: F401 - a fixture
from tests.sandbox_tools import Try, box_keyed


@pytest.fixture(autouse=True)
def _walls() -> None:
    if level_here().name != NAMESPACES:
        pytest.skip(f"No walls here: {level_here().missing}")


def act(what: str, *, contract: Contract = box_keyed, seconds: float = 20.0, **more) -> Outcome:
    """Run one thing inside, as the executor does."""
    context = context_of(key="k", seconds=seconds)
    arguments = Try(what=what, **more)
    return call_act(contract, arguments, context, epoch_holds=lambda: True, send_by=time.monotonic() + 5)


def said(what: str, **more):
    outcome = act(what, **more)
    assert outcome.outcome == "ok", outcome
    return outcome.result
