"""A user's own agent as something to drill: which task to start, which call is drilled, who counts its effects.

``drill run --target PACKAGE.MODULE:NAME`` names a ``Target``. Nothing else is declared anywhere: agent and tools come
from ``HANDRAIL_MODULES``, as in a worker.
"""

import importlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chaos_app.drills.catalogue import Workload
from chaos_app.drills.names import Klass
from tasks_app import registry
from tasks_app.contracts import Contract
from tasks_app.status import EffectClass

NAME_MOST = 40  # characters: as the rows of cases hold
Ledger = Callable[[], Iterable[Mapping[str, Any]]]
CLASSES = {EffectClass.NONE: Klass.NONE, EffectClass.KEYED: Klass.KEYED, EffectClass.OPAQUE: Klass.OPAQUE}


def _nothing(folder: Path) -> AbstractContextManager[Mapping[str, str]]:
    return nullcontext({})


@dataclass(frozen=True, kw_only=True)
class Target:
    """What a drill must know of an agent that is not its own.

    ``name``, of at most 40 characters, stands in ids and reports. ``agent``, ``tool``: as registered; ``call``: the
    name that the agent gives to the call that is drilled. ``intent(case)``: what a task is given; each case needs an
    act of its own.

    Who counts: ``ledger()`` returns every effect there is, each with ``key`` and, where known, ``call``,
    ``business_key``, ``reference``, ``at`` (seconds since 1970); it is called outside of every worker. Without it the
    recording proxy counts. ``address`` names the environment variable with the service's address (http://...): the
    proxy is put in front of it, and can hold requests, lose answers, spoil them. With neither nobody counts, and every
    verdict is INCONCLUSIVE.

    ``open(folder)``: a context manager around the whole drill; it yields environment variables for every process.
    ``moves``: what people do when they are asked: "approve" (as they do where nothing is said), "deny", "signal".
    """

    name: str
    agent: str
    tool: str
    call: str
    intent: Callable[[str], Mapping[str, Any]]
    ledger: Ledger | None = None
    address: str = ""
    open: Callable[[Path], AbstractContextManager[Mapping[str, str]]] = _nothing
    moves: tuple[str, ...] = ("approve",)
    status: str = "completed"
    children: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a name that no row of a run can hold."""
        if not 0 < len(self.name) <= NAME_MOST:
            raise ValueError(
                f"The name of a target has 1 to {NAME_MOST} characters, {self.name[:80]!r} {len(self.name)}."
            )

    @property
    def contract(self) -> Contract:
        """The drilled tool's contract. Raises ValueError where nothing of that name is registered."""
        found = registry.tool_newest(self.tool)
        if found is None or registry.agent_newest(self.agent) is None:
            missing = f"agent {self.agent!r}" if found else f"tool {self.tool!r}"
            raise ValueError(f"There is no {missing}: does HANDRAIL_MODULES name its package?")
        return found

    @property
    def klass(self) -> Klass:
        """The class that the drilled tool declares: what is allowed follows from it."""
        contract = self.contract
        if contract.effect_class == EffectClass.READABLE:
            return Klass.PRECONDITION if contract.precondition else Klass.READABLE
        return CLASSES[contract.effect_class]


def target_load(path: str) -> Target:
    """Return the target that "PACKAGE.MODULE:NAME" names. Raises ValueError in words for people."""
    module, _, name = path.partition(":")
    try:
        found = getattr(importlib.import_module(module), name or "target")
    except ValueError as error:  # its own refusal, or an empty name
        raise ValueError(f"--target {path!r} cannot be taken: {error}") from error
    except (ImportError, AttributeError) as error:
        raise ValueError(f"--target {path!r} cannot be found: {error}. Is its folder in PYTHONPATH?") from error
    if not isinstance(found, Target):
        raise ValueError(f"--target {path!r} is no Target (chaos_app.drills.target).")
    return found


def workload_of_target(target: Target) -> Workload:
    """Return the workload that starts tasks of a target."""
    return Workload(
        name=target.name,
        agent=target.agent,
        says=f"the agent {target.agent}, of {target.name}",
        classes=(target.klass,),
        moves=target.moves,
        effects={},
        drilled=target.call,
        status=target.status,
        children=target.children,
    )
