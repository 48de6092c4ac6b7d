"""Tool contracts: what a tool promises. An executor may rely on nothing else."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from core.tracing import trace_headers
from tasks_app.sandbox.spec import Limits, Wanted
from tasks_app.status import EffectClass

__all__ = [
    "Absent",
    "Answer",
    "CallContext",
    "CannotTell",
    "Contract",
    "EffectClass",
    "Found",
    "Limits",
    "LookUp",
    "Observed",
    "Refused",
    "Started",
    "Unknown",
    "Wanted",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A look-up found the effect: its outside reference and the arguments that it was made with."""

    reference: str
    arguments: Mapping[str, Any] | None = None
    result: Any = None


@dataclass(frozen=True, slots=True)
class Absent:
    """A look-up saw, for certain, that there is no such effect."""


@dataclass(frozen=True, slots=True)
class CannotTell:
    """A look-up could not tell; an exception, a timeout, a 5xx or a truncated list mean the same."""

    reason: str


LookUp = Found | Absent | CannotTell


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The tool answered ok."""

    result: Any = None
    reference: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """Long work has begun outside; ``handle`` polls it, no sooner than ``poll_after`` seconds."""

    handle: str
    poll_after: float = 1.0


class Refused(Exception):
    """Raise from ``execute``: definitely no effect (a 4xx that says so). ``sent`` False: provably never sent."""

    def __init__(self, reason: str, *, code: str = "refused", sent: bool = True, moved: bool = False) -> None:
        self.reason, self.code, self.sent, self.moved = reason, code, sent, moved
        super().__init__(reason)


class Unknown(Exception):
    """Raise from ``execute``: nobody can tell (key in use, 5xx). Any other exception means the same."""

    def __init__(self, reason: str, *, retry_after: float | None = None) -> None:
        self.reason, self.retry_after = reason, retry_after
        super().__init__(reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContext:
    """What the runtime tells a tool about the call: its key, its deadline (monotonic clock, seconds), who asks."""

    key: str
    task: str
    name: str
    attempt: int
    epoch: int
    deadline: float
    business_key: str | None = None
    seen: str | None = None
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)  # granted to this attempt
    trace: Mapping[str, str] = field(default_factory=dict)  # headers of the trace that a sandbox cannot see

    def credential(self, name: str) -> str:
        """Return a credential that the contract names. Raises KeyError: it was not granted to this call."""
        return self.credentials[name]

    def headers(self) -> dict[str, str]:
        """Return the headers by which an outside count can tie a request to its call."""
        return {
            "Idempotency-Key": self.key,
            "Handrail-Key": self.key,
            "Handrail-Call": f"{self.task}/{self.name}",
            "Handrail-Attempt": str(self.attempt),
            **(self.trace or trace_headers()),
        } | ({"Handrail-Business-Key": self.business_key} if self.business_key else {})


Execute = Callable[[Any, CallContext], "Answer | Started"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """What a tool promises: schema, effect class, times, limits, and its functions.

    Seconds everywhere. ``lag``: how long after an attempt's deadline an accepted request may still take
    effect, or an effect stay invisible to a look-up. ``retention``: how long a keyed provider remembers keys.
    ``seen(args)`` reads the version for a precondition; it is fixed when the call is intended and approved.
    ``cost``: what a call costs, in the unit that the rules of policy compare it in; where it hangs on the arguments, a
    pure function of them. One that raises fails each condition that reads it.
    """

    name: str
    version: int
    arguments: type[BaseModel]
    effect_class: EffectClass
    execute: Execute
    continues: frozenset[int] = frozenset()
    timeout: float = 10.0
    lag: float = 1.0
    retention: float = 86_400.0
    attempts: int = 5  # sends of one call before a person is asked
    risk: str = "low"  # low, medium, high
    cost: float | Callable[[Any], float | None] | None = None  # None: the tool does not say
    asks: bool | None = None  # needs a person; None: the class's default (opaque asks)
    decide_within: float = 86_400.0
    run_within: float = 3_600.0
    once_per: str | None = None  # business key template over arguments and {intent...}
    resource: str | None = None  # template: what it touches
    at_once: int | None = None  # calls at once over all tasks
    precondition: bool = False
    exempt: frozenset[str] = frozenset()  # argument and result fields that masker and normaliser leave alone
    find: Callable[[str], LookUp] | None = None
    verify: Callable[[Any, Answer], "Observed"] | None = None
    preview: Callable[[Any], str] | None = None
    seen: Callable[[Any], str] | None = None
    start: Execute | None = None
    poll: Callable[[str], "Answer | Started"] | None = None
    editable: frozenset[str] = frozenset()  # arguments that whoever decides may change before they approve
    reversible: bool | None = None  # None: the tool does not say
    how_to_check: str = ""  # for a person who must find out whether it happened
    sandbox: Wanted | str = Wanted.AVAILABLE  # available, full (refuses to run in less), or none (with a reason)
    sandbox_reason: str = ""  # why none; people read it
    limits: Limits = field(default_factory=Limits)
    packages: tuple[str, ...] = ()  # importable inside, beside the tool's own package
    mounts: tuple[str, ...] = ()  # host paths that can be read inside
    environment: tuple[str, ...] = ()  # variables of the worker's that are told inside: addresses, never secrets
    network: tuple[str, ...] = ()  # host:port, each by its name; nothing else can be reached from inside
    private_network: frozenset[str] = frozenset()  # those of them that may have private or local addresses
    credentials: tuple[str, ...] = ()  # each granted to every single call, by name
    doc: str = field(default="")

    @property
    def needs_person(self) -> bool:
        """Whether the contract itself asks for an approval.

        What it states (``asks=True``) stands whatever policy says; a class's default yields to a rule that allows.
        """
        return self.asks if self.asks is not None else self.effect_class == EffectClass.OPAQUE

    @property
    def can_look_up(self) -> bool:
        """Whether the effect of a call can be looked up by its key. For pages: a template would call ``find``."""
        return self.find is not None

    @property
    def reads_back(self) -> bool:
        """Whether the effect is read back after an answer. For pages: a template would call ``verify``."""
        return self.verify is not None

    @property
    def cost_said(self) -> str:
        """Return how the contract states what a call costs. For pages: a template would call the function."""
        if self.cost is None:
            return "the tool does not say"
        return "by its arguments" if callable(self.cost) else str(self.cost)

    def carries(self, version: int) -> bool:
        """Whether this code may send, look up and verify a call of that contract version."""
        return version == self.version or version in self.continues


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What reading the effect back saw: ``matches`` exactly one effect as intended, else the difference."""

    matches: bool
    seen: Any = None
    reference: str = ""
    reason: str = ""
    cannot_tell: bool = False
