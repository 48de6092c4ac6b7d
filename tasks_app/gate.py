"""The Gate: what the runtime asks before a call that may need a person.

``tasks_app`` knows no approval model. The composition root names the implementation
(``settings.HANDRAIL_GATE``); the default refuses. All questions are asked inside the caller's
transaction, with the task row locked first (one lock order: task, approval, grant).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string

from tasks_app.contracts import Contract
from tasks_app.models import Call, Task
from tasks_app.record.append import CallChange
from tasks_app.record.events import Event

# How the refusal of a request begins where too many are open already: the task waits and asks again by itself.
OVER_CAP = "limit of open requests"
STOPPED = "stopped: agent"  # and while its agent is stopped: nothing new is asked for
ASK_LATER = (OVER_CAP, STOPPED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """Allow, ask or deny, and the policy that said so (kept with the call)."""

    outcome: str  # allow, ask, deny
    policy: Mapping[str, Any]
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """T1's answer: admitted with the events to append first, or refused with the call's next state.

    On the first attempt ``events`` holds ``approval.consumed``. When refused, ``events`` says what became of
    the approval (lapsed, voided), and ``call_state`` what becomes of the call.
    """

    admitted: bool
    approval: str | None = None
    events: tuple[Event, ...] = ()
    call_state: str = ""
    reason: str = ""


class Gate(Protocol):
    """What approvals_app implements."""

    def assess(self, *, task: Task, contract: Contract, arguments: Mapping[str, Any]) -> Assessment:
        """At intention: does this call need a person? Raises nothing; no database write."""
        ...

    def request(
        self,
        *,
        task: Task,
        call: CallChange,
        contract: Contract,
        arguments: Mapping[str, Any],
        digest: str,
        policy: Mapping[str, Any],
        reason: str,
    ) -> tuple[Event, ...]:
        """Build the approval rows of an intended call; return the ``approval.requested`` events to append with it.

        ``approval.decided`` follows where the answer is known already. Raises Stale where too many are open (OVER_CAP).
        """
        ...

    def admit(self, *, task: Task, call: Call, contract: Contract, digest: str, first: bool) -> Admission:
        """T1: check under the approval's lock and consume on the first attempt (A04, A05, S3, S4).

        Asked as well before the first attempt of a call that ``assess`` let run by itself, where it comes later than
        the intention: policy may have become stricter.
        """
        ...

    def void(self, *, task: UUID, names: frozenset[str] | None, reason: str) -> tuple[Event, ...]:
        """Void every pending and unused approval of the task (or of those calls); return the events (rule 10)."""
        ...


class RefusingGate:
    """The default: without a gate, no call that needs a person runs."""

    def assess(self, *, task: Task, contract: Contract, arguments: Mapping[str, Any]) -> Assessment:
        """Allow what its contract lets run by itself, deny the rest."""
        outcome = "deny" if contract.needs_person else "allow"
        return Assessment(outcome=outcome, policy={"rule": "no gate"}, reason="No approvals are configured here.")

    def request(self, **_: Any) -> tuple[Event, ...]:
        """Nothing can be requested."""
        return ()

    def admit(self, *, contract: Contract, **_: Any) -> Admission:
        """Admit what its contract lets run by itself."""
        if not contract.needs_person:
            return Admission(admitted=True)
        return Admission(admitted=False, call_state="refused", reason="No approvals are configured here.")

    def void(self, **_: Any) -> tuple[Event, ...]:
        """Nothing to void."""
        return ()


@cache
def gate() -> Gate:
    """Return the gate that the composition root names."""
    implementation: Gate = import_string(settings.HANDRAIL_GATE)()
    return implementation
