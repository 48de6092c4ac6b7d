"""From rows to the facts that the resume rules need."""

from datetime import datetime, timedelta

from tasks_app.contracts import Contract
from tasks_app.models import Call, Event
from tasks_app.resume import CallFacts
from tasks_app.runtime.session import Session
from tasks_app.status import EXTERNAL_VERSION, CallState, EffectClass, Status, weaker


def facts_of(
    row: Call, contract: Contract | None, *, status: Status, stopped: bool, carried: bool, external: bool = False
) -> CallFacts:
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
            external=external,
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
        external=external,
        use_by=_use_by(row, contract) if external and row.state == CallState.INTENDED else None,
    )


def _use_by(row: Call, contract: Contract) -> datetime:
    """Until when an agent outside may begin a call that policy allows; an approval has a must-run-by of its own."""
    intended = Event.objects.values_list("at", flat=True).get(stream=row.task_id, seq=row.intended_seq)
    return intended + timedelta(seconds=contract.run_within)


def call_facts(session: Session, row: Call, contract: Contract | None) -> CallFacts:
    """Return the facts of one of this slice's open calls."""
    external = session.task.agent_version == EXTERNAL_VERSION
    stopped, carried = bool(session.stopped), contract is not None
    return facts_of(row, contract, status=session.status, stopped=stopped, carried=carried, external=external)
