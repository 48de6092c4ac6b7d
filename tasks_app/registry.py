"""What code this process carries: agents and tools by name and version, user code included."""

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from core.errors import InvalidInput
from tasks_app.contracts import Contract
from tasks_app.criteria import Criterion
from tasks_app.decisions import Decision
from tasks_app.external import external_decide, outside_only
from tasks_app.sandbox.problems import sandbox_problem
from tasks_app.status import EXTERNAL_VERSION, EffectClass

if TYPE_CHECKING:
    from tasks_app.view import TaskView

Decide = Callable[["TaskView"], Decision]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """A function from the record so far to the next decision, under a name and a version."""

    name: str
    version: int
    decide: Decide
    continues: frozenset[int] = frozenset()
    done_when: tuple[Criterion, ...] = ()
    intent: type[BaseModel] | None = None  # schema of the intent: validated at creation, drives the start form
    budget: Mapping[str, float] = field(default_factory=dict)
    tasks_at_once: int | None = None
    calls_at_once: int | None = None
    losses: int = 3
    doc: str = ""

    def carries(self, version: int) -> bool:
        """Whether this code may take a task that began with that version."""
        return version == self.version or version in self.continues


_agents: dict[tuple[str, int], Agent] = {}
_tools: dict[tuple[str, int], Contract] = {}


def agent(
    name: str,
    *,
    version: int = 1,
    continues: Iterable[int] = (),
    done_when: Iterable[Criterion] = (),
    **more: Any,
) -> Callable[[Decide], Decide]:
    """Declare an agent: ``@agent("incident.remediate", version=2, continues=[1])``."""

    def register(function: Decide) -> Decide:
        doc = (function.__doc__ or "").strip().split("\n")[0]
        agent_register(
            Agent(
                name=name,
                version=version,
                decide=function,
                continues=frozenset(continues),
                done_when=tuple(done_when),
                doc=doc,
                **more,
            )
        )
        return function

    return register


def tool(
    name: str, *, version: int = 1, arguments: type[BaseModel], effect_class: EffectClass | str, **more: Any
) -> Callable[[Callable[..., Any]], Contract]:
    """Declare a tool: decorates its ``execute(args, context)`` and returns the contract."""

    def register(function: Callable[..., Any]) -> Contract:
        contract = Contract(
            name=name,
            version=version,
            arguments=arguments,
            effect_class=EffectClass(effect_class),
            execute=function,
            doc=(function.__doc__ or "").strip(),
            **more,
        )
        return tool_register(contract)

    return register


def outside_tool(name: str, *, version: int = 1, arguments: type[BaseModel], **more: Any) -> Contract:
    """Declare a tool that only agents outside of Handrail execute, through the gate; a worker refuses to run it."""
    contract = Contract(
        name=name,
        version=version,
        arguments=arguments,
        effect_class=EffectClass.OPAQUE,
        execute=outside_only,
        **more,
    )
    return tool_register(contract)


def agent_register(new: Agent) -> Agent:
    """Add an agent. Raises InvalidInput where name and version are taken by other code, or there is no such version."""
    if new.version <= EXTERNAL_VERSION:
        raise InvalidInput(f"Agent {new.name!r}: versions begin with 1.")
    return _once(_agents, (new.name, new.version), new)


def tool_register(new: Contract) -> Contract:
    """Add a tool. Raises InvalidInput where name and version are taken, or the contract contradicts itself."""
    problem = contract_problem(new)
    if problem:
        raise InvalidInput(f"Tool {new.name!r}: {problem}")
    return _once(_tools, (new.name, new.version), new)


def contract_problem(contract: Contract) -> str | None:
    """Say in one sentence why a contract contradicts itself, or None."""
    if contract.effect_class == EffectClass.READABLE and contract.find is None:
        return "a readable tool needs find(key), or declare it opaque."
    if contract.precondition and contract.seen is None:
        return "a precondition needs seen(args), which reads the version that the provider will compare."
    if (contract.start is None) != (contract.poll is None):
        return "long work needs both start(args, context) and poll(handle)."
    return sandbox_problem(contract)


def _once[T](table: dict[tuple[str, int], T], key: tuple[str, int], new: T) -> T:
    if key in table and table[key] != new:
        raise InvalidInput(f"{key[0]!r} version {key[1]} is declared twice; raise the version of one of them.")
    table[key] = new
    return new


def agent_find(name: str, version: int) -> Agent | None:
    """Return the code that may run a task of that agent version: the newest that carries it.

    Every process tends to the tasks of agents that run outside of Handrail.
    """
    if version == EXTERNAL_VERSION:
        return Agent(name=name, version=version, decide=external_decide)
    able = [a for (n, _), a in _agents.items() if n == name and a.carries(version)]
    return max(able, key=lambda a: a.version, default=None)


def agent_newest(name: str) -> Agent | None:
    """Return the newest version of an agent, with which a new task begins."""
    return max((a for (n, _), a in _agents.items() if n == name), key=lambda a: a.version, default=None)


def tool_find(name: str, version: int) -> Contract | None:
    """Return the contract that carries calls of that version, or None."""
    able = [c for (n, _), c in _tools.items() if n == name and c.carries(version)]
    return max(able, key=lambda c: c.version, default=None)


def tool_newest(name: str) -> Contract | None:
    """Return the newest version of a tool, which new calls use."""
    return max((c for (n, _), c in _tools.items() if n == name), key=lambda c: c.version, default=None)


def agents() -> list[Agent]:
    """List what is carried, by name and version."""
    return [_agents[key] for key in sorted(_agents)]


def tools() -> list[Contract]:
    """List what is carried, by name and version."""
    return [_tools[key] for key in sorted(_tools)]


def carries() -> dict[str, dict[str, list[int]]]:
    """Say which versions of which agents and tools this process can run (what a worker announces)."""
    result: dict[str, dict[str, list[int]]] = {"agents": {}, "tools": {}}
    for a in agents():
        result["agents"].setdefault(a.name, []).extend(sorted({a.version, *a.continues}))
    for c in tools():
        result["tools"].setdefault(c.name, []).extend(sorted({c.version, *c.continues}))
    return result


def modules_load() -> None:
    """Import user code: the entry-point group ``handrail.modules`` and HANDRAIL_MODULES.

    Raises InvalidInput naming the module that cannot be imported.
    """
    from django.conf import settings  # only here: sandboxes load this module, and have no settings

    names = [point.value for point in entry_points(group="handrail.modules")] + list(settings.HANDRAIL_MODULES)
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise InvalidInput(
                f"HANDRAIL_MODULES or an entry point names {name!r}, which cannot be imported: {error}."
                " Install it in this environment, or put its folder on PYTHONPATH."
            ) from error
