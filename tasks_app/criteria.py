"""Criteria: what must hold outside for a task to be complete, and the functions that look."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """A named check with its arguments, e.g. ``criterion("config.is", service="api", value=30)``.

    A string argument "{intent.x}" is filled from the task's intent when the criterion is checked.
    """

    check: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the stored form."""
        return {"check": self.check, "arguments": dict(self.arguments)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Criterion":
        """Read the stored form."""
        return cls(check=value["check"], arguments=value.get("arguments", {}))

    def filled(self, intent: Any) -> "Criterion":
        """Return it with "{intent.x}" filled from a task's intent; the whole value keeps its type."""
        arguments = {name: _filled(value, intent) for name, value in self.arguments.items()}
        return Criterion(check=self.check, arguments=arguments)

    def __str__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{self.check}({inside})"


def _filled(value: Any, intent: Any) -> Any:
    if not isinstance(value, str) or not value.startswith("{intent.") or not value.endswith("}"):
        return value
    current = intent
    for part in value[len("{intent.") : -1].split("."):
        current = current.get(part) if isinstance(current, Mapping) else None
    return current


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What a check saw: whether it holds, what was expected, what was seen. An exception is "cannot tell": not held."""

    holds: bool
    expected: Any
    seen: Any
    details: Mapping[str, Any] = field(default_factory=dict)


Check = Callable[..., Observation]
_checks: dict[str, Check] = {}


def criterion(check: str, /, **arguments: Any) -> Criterion:
    """Return a criterion."""
    return Criterion(check=check, arguments=arguments)


def check(name: str) -> Callable[[Check], Check]:
    """Register a check, ``@check("config.is")``: it takes the criterion's arguments and looks at the world."""

    def register(function: Check) -> Check:
        if name in _checks and _checks[name] is not function:
            raise InvalidInput(f"The check {name!r} is declared twice; give one of them another name.")
        _checks[name] = function
        return function

    return register


def check_of(name: str) -> Check | None:
    """Return the check of that name, or None where this process does not carry it."""
    return _checks.get(name)


def checks_known() -> list[str]:
    """List the names of the checks that this process carries."""
    return sorted(_checks)
