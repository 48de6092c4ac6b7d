"""From rows to the facts that the resume rules need."""

from tasks_app.contracts import Contract
from tasks_app.models import Call
from tasks_app.resume import CallFacts
from tasks_app.runtime.session import Session
from tasks_app.status import CallState, EffectClass, Status, weaker


def facts_of(row: Call, contract: Contract | None, *, status: Status, stopped: bool, carried: bool) -> CallFacts:
    """Return the facts of a call. ``contract`` is the code that carries its version here, or None."""
    recorded = EffectClass(row.effect_class)
    if contract is None:
        return CallFacts(
            state=CallState(row.state),
            effect_class=recorded,
            status=status,
            carried=carried,
            stopped=stopped,
            attempts=row.attempts,
            deadline=row.deadline,
            maybe_applied=row.maybe_applied,
        )
    return CallFacts(
        state=CallState(row.state),
        effect_class=weaker(recorded, contract.effect_class),
        status=status,
        attempts=row.attempts,
        most_attempts=contract.attempts,
        first_attempt_at=row.first_attempt_at,
        deadline=row.deadline,
        timeout=contract.timeout,
        lag=contract.lag,
        retention=contract.retention,
        has_find=contract.find is not None,
        has_read_back=contract.verify is not None,
        look_ups=row.look_ups,
        next_look_at=row.next_look_at,
        maybe_applied=row.maybe_applied,
        look_first=row.look_first,
        carried=carried,
        stopped=stopped,
    )


def call_facts(session: Session, row: Call, contract: Contract | None) -> CallFacts:
    """Return the facts of one of this slice's open calls."""
    return facts_of(row, contract, status=session.status, stopped=bool(session.stopped), carried=contract is not None)
