"""What a recovery drill must know of this agent: ``manage.py drill run --target own_agent.drill:target``.

The drill starts tasks of the agent, kills its workers at every place that they pass, lets others go on, and counts
with ``ledger``. Everything else (servers, workers, people) it brings along. The board is one of the drill's own.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from chaos_app.drills.target import Target
from own_agent.target import BOARD, ledger


def intent(case: str) -> dict[str, str]:
    """Return what the task of a case is given: a text of its own, for no two cases may do the same act."""
    return {"room": "lobby", "text": f"Drill {case}: the lift is being repaired."}


@contextmanager
def board(folder: Path) -> Iterator[Mapping[str, str]]:
    """Let all processes of the drill use a board in ``folder``. A real system would need a test account here."""
    yield {BOARD: str(folder / "board.sqlite3")}


target = Target(
    name="own-agent",
    agent="own.agent",
    tool="own.post",
    call="post",  # the name that the agent gives to the call that is drilled
    intent=intent,
    ledger=ledger,
    open=board,
)
