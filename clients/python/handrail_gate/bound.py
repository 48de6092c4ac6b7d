"""Between a function's parameters and a call's arguments."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from handrail_gate.errors import GateMismatch
from handrail_gate.flows import Wanted

type Key = Callable[[dict[str, Any]], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How a function is run: under which tool, asked for in which words, and how long a decision is waited for.

    ``key``: makes the request key from the arguments. The same key is the same request, also after a restart of the
    program, so that nobody is asked twice; without it each run is a request of its own.
    """

    tool: str
    reason: str = ""
    title: str = ""
    task: str | None = None
    wait: float = 3600.0
    key: Key | None = None

    def wanted(self, arguments: dict[str, Any]) -> Wanted:
        """Return the call to ask for."""
        key = self.key(arguments) if self.key else uuid4().hex
        return Wanted(
            tool=self.tool, arguments=arguments, request_key=key, task=self.task, title=self.title, reason=self.reason
        )


def arguments_of(function: Callable[..., Any], given: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a function was called with, by name, its defaults included. Raises TypeError as calling it would."""
    bound = inspect.signature(function).bind(*given, **named)
    bound.apply_defaults()
    arguments: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        kind = bound.signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL or kind is inspect.Parameter.POSITIONAL_ONLY:
            raise TypeError(f"{name!r} has no name to be approved under: use named parameters.")
        arguments |= value if kind is inspect.Parameter.VAR_KEYWORD else {name: value}
    return arguments


def fit_check(function: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
    """Raise GateMismatch where the function cannot be called with exactly these arguments."""
    try:
        inspect.signature(function).bind(**arguments)
    except TypeError as error:
        raise GateMismatch(f"What may be run does not fit the function ({error}). It was not run.") from error
