"""An executor that protects nothing: it acts, then notes that it was done, or the other way round.

Many agents do no more than this. After a crash it goes on where its note says. It serves as the control of drills.
"""

import os
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

from chaos_app.drills import tools
from chaos_app.drills.names import Klass
from chaos_app.injector.handler import Asker
from chaos_app.injector.report import SOCKET
from core.boundaries import Boundary, Crossing, Position
from tasks_app.contracts import CallContext
from tasks_app.registry import tool_newest

NOTES_FIRST, ACTS_FIRST = "notes, then acts", "acts, then notes"


def naive_run(order: dict[str, Any]) -> dict[str, Any]:
    """Act once, as far as the note says, in this process; stop where a runtime could be stopped."""
    note = Path(order["note"])
    ask = Asker(os.environ[SOCKET])
    if note.exists():
        return {"did": "nothing: its note says that it was done"}
    if order["order"] == NOTES_FIRST:
        note.write_text("done")
    ask(Crossing(boundary=Boundary.SEND, position=Position.BEFORE_SEND))
    _act(order)
    ask(Crossing(boundary=Boundary.OUTCOME, position=Position.BEFORE))
    note.write_text("done")
    return {"did": "acted"}


def _act(order: dict[str, Any]) -> None:
    contract = tool_newest(order["tool"])
    assert contract is not None
    arguments = contract.arguments(**order["arguments"])
    guarded = order["class"] == Klass.PRECONDITION and isinstance(arguments, tools.Act)
    seen = tools.config_version(arguments) if guarded else None  # type: ignore[arg-type]
    context = CallContext(
        key=f"none-{uuid4().hex}",
        task=order["case"],
        name="act",
        attempt=1,
        epoch=0,
        deadline=time.monotonic() + 20,
        business_key=order["business_key"],
        seen=seen,
    )
    contract.execute(arguments, context)
