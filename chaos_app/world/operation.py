"""An operation: one thing that a system of the outside world does, and where it is reached over HTTP."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from chaos_app.world.outside import Outside
from chaos_app.world.visit import Reply, Visit

Work = Callable[[Outside, Visit], Reply] | Callable[[Outside, Visit], Awaitable[Reply]]


@dataclass(frozen=True)
class Operation:
    """One thing that a system does.

    ``keyed``: the same Idempotency-Key gets the same answer. Work that is not a coroutine runs in one transaction
    together with the memory of its key.
    """

    system: str
    name: str
    method: str
    path: str
    work: Work
    acts: bool = True
    keyed: bool = False
