"""What goes into an append besides events: the token, and the changes of the rows of task and calls. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A fencing token: new for every acquisition, compared in every append, renewal and release."""

    epoch: int
    nonce: UUID


@dataclass(frozen=True, slots=True)
class Seq:
    """In a change of a row: the sequence that the n-th event of this append (from 1) will get."""

    ordinal: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CallChange:
    """A new or changed ``call`` row. Values may be ``After`` (a moment) or ``Seq`` (a sequence)."""

    name: str
    new: bool = False
    set: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """What an attempt is conditional on besides the token: no stop switch, limits of calls at once.

    ``attempts``: {tool: how many}; limits are None for "no limit". ``again``: the id of the call that is sent again; an
    attempt of a lost epoch, which may be in flight as far as the record knows, takes no place beside this one.
    """

    attempts: Mapping[str, int]
    tool_limits: Mapping[str, int] = field(default_factory=dict)
    agent_limit: int | None = None
    again: int | None = None

    def as_json(self) -> str:
        """Return the argument of ``handrail_admission``."""
        wanted = {"attempts": dict(self.attempts), "tool_limits": dict(self.tool_limits)}
        return json.dumps({**wanted, "agent_limit": self.agent_limit, "again": self.again})
