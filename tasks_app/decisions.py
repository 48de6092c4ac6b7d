"""What an agent may decide. Pure data: a decision is recorded before anything is done."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tasks_app.criteria import Criterion

UNCHANGED: Any = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Base of every decision.

    ``state`` replaces the agent's state when given; ``note`` is a sentence for people.
    """

    state: Any = UNCHANGED
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Decision):
    """One tool call. ``name`` stands for its effect, once in the task's whole life."""

    tool: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls(Decision):
    """Several calls, run together, each settled on its own."""

    calls: Sequence[Call]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewState(Decision):
    """Nothing but new state; a step of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitUntil(Decision):
    """Wait until a time: ``at`` (aware), or ``seconds`` after the commit."""

    name: str
    at: datetime | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitForSignal(Decision):
    """Wait for a signal of that name; with ``timeout`` seconds the wait ends without one."""

    name: str
    signal: str
    timeout: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitForChild(Decision):
    """Wait until the child task that was spawned as ``child`` has ended."""

    name: str
    child: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Spawn(Decision):
    """Create a child task, in the transaction that records it."""

    name: str
    agent: str
    intent: Mapping[str, Any]
    title: str = ""
    done_when: Sequence[Criterion] = ()
    budget: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Complete(Decision):
    """Claim to be done. Believed only when every criterion holds."""

    summary: str = ""
    claims: Sequence[Criterion] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail(Decision):
    """Give up, with the reason."""

    reason: str


def call(tool: str, /, *, name: str, state: Any = UNCHANGED, note: str = "", **arguments: Any) -> Call:
    """Return one tool call; keyword arguments are the tool's arguments."""
    return Call(tool=tool, name=name, arguments=arguments, state=state, note=note)


def calls(*many: Call, state: Any = UNCHANGED, note: str = "") -> Calls:
    """Return several calls that run together."""
    return Calls(calls=many, state=state, note=note)


def state(value: Any, *, note: str = "") -> NewState:
    """Return a step that only changes the agent's state."""
    return NewState(state=value, note=note)


def wait_until(*, name: str, at: datetime | None = None, seconds: float | None = None, **more: Any) -> WaitUntil:
    """Return a wait for a time."""
    return WaitUntil(name=name, at=at, seconds=seconds, **more)


def wait_for_signal(signal: str, /, *, name: str = "", timeout: float | None = None, **more: Any) -> WaitForSignal:
    """Return a wait for a signal; ``timeout`` in seconds."""
    return WaitForSignal(name=name or signal, signal=signal, timeout=timeout, **more)


def wait_for_child(child: str, /, *, name: str = "", **more: Any) -> WaitForChild:
    """Return a wait for a child's end."""
    return WaitForChild(name=name or f"{child} ended", child=child, **more)


def spawn(agent: str, /, *, name: str, intent: Mapping[str, Any], **more: Any) -> Spawn:
    """Return the creation of a child task."""
    return Spawn(name=name, agent=agent, intent=intent, **more)


def complete(*, summary: str = "", claims: Sequence[Criterion] = (), **more: Any) -> Complete:
    """Return the claim to be done."""
    return Complete(summary=summary, claims=claims, **more)


def fail(reason: str, **more: Any) -> Fail:
    """Return giving up."""
    return Fail(reason=reason, **more)
