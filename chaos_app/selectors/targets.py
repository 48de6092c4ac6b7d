"""The targets that a page offers: those in ``PACKAGE.drill`` of the packages that HANDRAIL_MODULES names.

A page takes no other: what it names is imported and run.
"""

import importlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.metadata import entry_points
from importlib.util import find_spec

from django.conf import settings

from chaos_app.drills.target import Target
from core.errors import InvalidInput
from tasks_app.registry import modules_load


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """One target. ``path``: as ``--target`` takes it. ``problem``: why it cannot be drilled; "" where it can.

    ``holds``: a proxy in front of its service can hold a request on its way.
    """

    path: str
    name: str = ""
    agent: str = ""
    tool: str = ""
    call: str = ""
    klass: str = ""
    counted_by: str = ""
    holds: bool = False
    problem: str = ""


def targets_offered() -> list[Offered]:
    """Return what the packages of this installation offer, those that cannot be drilled as well."""
    try:
        modules_load()
    except InvalidInput as error:
        return [Offered(path="", problem=error.detail)]
    return [one for name in _packages() for one in _of_package(name)]


def target_offered(path: str) -> Offered | None:
    """Return the one of this path, if it is offered and can be drilled."""
    return next((one for one in targets_offered() if one.path == path and not one.problem), None)


def _packages() -> list[str]:
    named = [point.value for point in entry_points(group="handrail.modules")] + list(settings.HANDRAIL_MODULES)
    return list(dict.fromkeys(f"{name}.drill" for name in named))


def _of_package(module: str) -> Iterator[Offered]:
    try:
        found = importlib.import_module(module) if find_spec(module) else None
    except ModuleNotFoundError as error:
        if not f"{module}.".startswith(f"{error.name}."):  # else the named module is no package, and holds no drill
            yield Offered(path=module, problem=f"{module} cannot be imported: {error}.")
        return
    except Exception as error:  # somebody's code: whatever it was, this page stands
        yield Offered(path=module, problem=f"{module} cannot be imported: {type(error).__name__}: {error}")
        return
    for name, value in vars(found).items() if found else ():
        if isinstance(value, Target):
            yield _offered(f"{module}:{name}", value)


def _offered(path: str, target: Target) -> Offered:
    named = Offered(path=path, name=target.name, agent=target.agent, tool=target.tool, call=target.call)
    try:
        known = {"klass": str(target.klass), "counted_by": _counted_by(target)}
    except ValueError as error:
        return replace(named, problem=str(error))
    return replace(named, holds=bool(target.address), **known)


def _counted_by(target: Target) -> str:
    if target.ledger is not None:
        return "its ledger, asked by no worker"
    if target.address:
        return f"a proxy in front of the service at {target.address}"
    return ""
