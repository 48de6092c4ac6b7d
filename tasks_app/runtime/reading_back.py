"""Reading an effect back by a request of its own: attempted and verified are never the same thing."""

from typing import Any

from core.boundaries import Boundary, Position, cross
from core.clock import database_now
from tasks_app.contracts import Answer, Contract
from tasks_app.models import Call
from tasks_app.record.append import CallChange, Seq
from tasks_app.record.events import After, CallInDoubt, CallObserved, CallVerified
from tasks_app.resume import Do, after_read_back
from tasks_app.runtime.acting import verify_act
from tasks_app.runtime.facts import call_facts
from tasks_app.runtime.granting import looking
from tasks_app.runtime.session import Session
from tasks_app.runtime.standing import call_commit
from tasks_app.status import CallState


def read_back(session: Session, row: Call, contract: Contract, arguments: Any, result: Any, reference: str) -> None:
    """Verify a call whose answer is ok (E08). What was seen rides in the next commit; a contradiction is committed."""
    cross(Boundary.VERIFY, Position.BEFORE, task=session.lease.task, call=row.name, epoch=session.lease.token.epoch)
    with looking(workspace=session.lease.workspace, task=session.lease.task, call=row.name) as notes:
        observed = verify_act(contract, arguments, Answer(result=result, reference=reference))
    session.later(notes)
    cross(Boundary.VERIFY, Position.AFTER, task=session.lease.task, call=row.name, epoch=session.lease.token.epoch)
    now = database_now() if not observed.matches else session.task.created_at
    move = after_read_back(
        call_facts(session, row, contract), matches=observed.matches, cannot_tell=observed.cannot_tell, now=now
    )
    if move.do == Do.VERIFY:
        verified_later(session, row, seen=observed.seen, reference=observed.reference or reference)
    elif move.do == Do.WAIT:
        event = CallObserved(
            name=row.name, look_up=row.look_ups + 1, answer="cannot tell", move=move.do, reason=observed.reason
        )
        change = {"look_ups": row.look_ups + 1, "next_look_at": move.until}
        call_commit(session, row, [event], set=change, boundary=Boundary.LOOK_UP)
    else:
        doubt_commit(
            session,
            row,
            contract,
            rule=move.rule,
            reason=move.reason,
            difference={"answered": result, "seen": observed.seen, "why": observed.reason},
        )


def verified_later(session: Session, row: Call, *, seen: Any, reference: str) -> None:
    """Let ``call.verified`` ride in the next commit (C)."""
    values = {
        "state": CallState.VERIFIED,
        "settled_seq": Seq(1),
        "maybe_applied": False,
        "next_look_at": None,
        "reference": reference or row.reference,
    }
    session.later(
        [CallVerified(name=row.name, seen=seen, reference=reference or None)],
        calls=[CallChange(name=row.name, set=values)],
    )
    session.unwritten_answer(row.name, state=CallState.VERIFIED, reference=values["reference"])
    session.settled_later(row.name)


def doubt_commit(
    session: Session, row: Call, contract: Contract | None, *, rule: str, reason: str, difference: Any = None
) -> None:
    """Put a call in doubt: a person settles it, no earlier than its last deadline + lag.

    Not where an answer has come meanwhile: then nothing is in doubt.
    """
    lag = contract.lag if contract else 60.0
    check = (contract.how_to_check if contract else "") or "Look in the outside system for this call's arguments."
    left = max((row.deadline - database_now()).total_seconds() + lag, 0.0) if row.deadline else lag

    event = CallInDoubt(
        name=row.name, rule=rule, reason=reason, check=check, not_before=After(left), difference=difference
    )
    doubted = {"state": CallState.IN_DOUBT, "maybe_applied": True}
    call_commit(session, row, [event], set=doubted, boundary=Boundary.LOOK_UP)
