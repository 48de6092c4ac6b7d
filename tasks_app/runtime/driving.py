"""Driving open calls: ask the resume rules for each, make the move. Fresh calls and takeovers are one path."""

import time
from dataclasses import dataclass, field
from datetime import datetime

from core.boundaries import Boundary
from core.clock import database_now
from tasks_app import registry
from tasks_app.carried import tool_is_carried
from tasks_app.contracts import Absent, CannotTell, Contract, Found
from tasks_app.gate import gate
from tasks_app.models import Call
from tasks_app.record.append import Seq
from tasks_app.record.events import CallObserved, CallResumeDecided, CallWithdrawn
from tasks_app.resume import Do, Move, after_failed_poll, after_look_up, decide
from tasks_app.runtime.acting import find_act, poll_act, reference_fit
from tasks_app.runtime.attempting import Blocked, attempt_commit
from tasks_app.runtime.batch import Inside
from tasks_app.runtime.facts import call_facts
from tasks_app.runtime.granting import looking
from tasks_app.runtime.reading_back import doubt_commit, read_back, verified_later
from tasks_app.runtime.ready import Ready, ready_make
from tasks_app.runtime.recorded import RecordedCall
from tasks_app.runtime.requesting import request_commit
from tasks_app.runtime.running import calls_run, outcome_record
from tasks_app.runtime.session import Session
from tasks_app.runtime.standing import call_commit
from tasks_app.status import CallState

# Nothing was sent, or a person is asked: no rule for these compares times, but for one that the time of the claim does.
UNTIMED = frozenset({CallState.INTENDED, CallState.ASKED, CallState.APPROVED, CallState.IN_DOUBT})
ACTS_NEXT = frozenset({CallState.INTENDED, CallState.APPROVED})  # what an agent outside may begin


@dataclass(slots=True)
class Drive:
    """What one round over the open calls did: whether anything moved, and until when the rest waits."""

    moved: bool = False
    until: datetime | None = None
    asked: bool = False
    elsewhere: bool = False  # another live worker carries what this one does not
    outside: bool = False  # its agent, which runs outside, acts next
    ready: list[Ready] = field(default_factory=list)

    def wait(self, until: datetime | None) -> None:
        """Note the earliest moment at which a waiting call is due."""
        if until is not None and (self.until is None or until < self.until):
            self.until = until


def calls_drive(session: Session) -> Drive:
    """Make the next move of every open call of the task; run what may act, together."""
    drive = Drive()
    # Where every rule is asked of a call that nothing was sent of yet, none looks at the clock: it is not asked.
    timed = any(row.state not in UNTIMED for row in session.open.values())
    now = database_now() if timed else session.lease.at
    for name in list(session.open):
        row = session.open.get(name)
        if row is not None:
            _one(session, drive, row, now)
    if drive.ready:
        drive.moved = True
        calls_run(session, drive.ready)
    return drive


def _one(session: Session, drive: Drive, row: Call, now: datetime) -> None:
    recorded = RecordedCall(row)
    if recorded.contract is None and tool_is_carried(row.tool, row.contract_version):
        drive.elsewhere = True
        return
    facts = call_facts(session, row, recorded.contract)
    move = decide(facts, now)
    _note_takeover(session, row, move, now)
    match move.do:
        case Do.SEND:
            _send(session, drive, row, recorded)
        case Do.LOOK_UP:
            _look_up(session, drive, row, recorded)
        case Do.READ_BACK:
            answer = recorded.answer()
            assert recorded.contract is not None
            read_back(session, row, recorded.contract, recorded.arguments, answer.get("result"), row.reference)
            drive.moved = True
        case Do.POLL:
            _poll(session, row, recorded)
            drive.moved = True
        case Do.VERIFY:
            verified_later(session, row, seen=None, reference=row.reference)
            drive.moved = True
        case Do.DOUBT:
            doubt_commit(session, row, recorded.contract, rule=move.rule, reason=move.reason)
            drive.moved = True
        case Do.VOID:
            _withdraw(session, row, "The tool changed: " + move.reason, voided="tool changed")
            drive.moved = True
        case Do.WITHDRAW:
            _withdraw(session, row, move.reason, voided=move.reason)
            drive.moved = True
        case Do.WAIT:
            drive.wait(move.until)
        case Do.PARK:
            drive.asked = drive.asked or row.state == CallState.ASKED
    drive.outside = drive.outside or (facts.external and row.state in ACTS_NEXT)


def _note_takeover(session: Session, row: Call, move: Move, now: datetime) -> None:
    """Record the rule that is applied to a call of an earlier epoch, once an epoch."""
    acted = row.state in {CallState.ATTEMPTED, CallState.UNKNOWN, CallState.OK, CallState.STARTED}
    if not acted or row.attempt_epoch == session.lease.token.epoch or row.name in session.resumed:
        return
    session.resumed.add(row.name)
    session.later(
        [
            CallResumeDecided(
                name=row.name,
                rule=move.rule,
                move=move.do,
                effect_class=row.effect_class,
                reason=move.reason,
                seen={"state": row.state, "attempts": row.attempts, "attempt_epoch": row.attempt_epoch, "at": str(now)},
                wait_until=str(move.until) if move.until else None,
            )
        ]
    )


def _send(session: Session, drive: Drive, row: Call, recorded: RecordedCall) -> None:
    if session.task.one_by_one and drive.ready:
        return
    if row.state == CallState.INTENDED and recorded.gated:
        drive.moved = request_commit(session, row, recorded) or drive.moved
        return
    agent = registry.agent_find(session.task.agent, session.task.agent_version)
    result = attempt_commit(session, row, recorded, agent.calls_at_once if agent else None)
    if isinstance(result, Ready):
        drive.ready.append(result)
    elif not isinstance(result, Blocked):
        drive.moved = True


def _look_up(session: Session, drive: Drive, row: Call, recorded: RecordedCall) -> None:
    assert recorded.contract is not None
    with looking(workspace=session.lease.workspace, task=session.lease.task, call=row.name) as notes:
        found = find_act(recorded.contract, row.key)
    session.later(notes)
    answer, reference, result, reason = _said(found)
    matches = isinstance(found, Found) and _same(found, recorded)
    facts = call_facts(session, row, recorded.contract)
    move = after_look_up(facts, answer=answer, matches=matches, now=database_now())
    event = CallObserved(
        name=row.name,
        look_up=row.look_ups + 1,
        answer=answer,
        move=move.do,
        reference=reference or None,
        found=dict(found.arguments) if isinstance(found, Found) and found.arguments is not None else None,
        result=result,
        reason=reason or move.reason,
        adopted=move.do == Do.ADOPT,
    )
    values = _after_look(row, move, reference)
    drive.moved = True
    if not call_commit(session, row, [event], set=values, boundary=Boundary.LOOK_UP):
        return  # answered meanwhile: what was seen is about a question that nobody asks any more
    if move.do == Do.DOUBT:
        difference = {"intended": recorded.intended["arguments"], "found": event.found} if answer == "found" else None
        doubt_commit(session, row, recorded.contract, rule=move.rule, reason=move.reason, difference=difference)
    elif move.do == Do.SEND and row.name in session.open:
        _send(session, drive, session.open[row.name], recorded)


def _said(found: Found | Absent | CannotTell) -> tuple[str, str, object, str]:
    match found:
        case Found():
            return "found", reference_fit(found.reference), found.result, ""
        case Absent():
            return "absent", "", None, ""
        case CannotTell():
            return "cannot tell", "", None, found.reason


def _same(found: Found, recorded: RecordedCall) -> bool:
    """Found with other arguments is in doubt; a look-up that cannot show arguments vouches by the key alone."""
    if found.arguments is None:
        return True
    intended = recorded.intended["arguments"]
    return all(intended.get(name) == value for name, value in found.arguments.items())


def _after_look(row: Call, move: Move, reference: str) -> dict[str, object]:
    values: dict[str, object] = {"look_ups": row.look_ups + 1}
    match move.do:
        case Do.ADOPT:
            values |= {"state": CallState.OK, "reference": reference, "answer_seq": Seq(1), "look_ups": 0}
        case Do.REFUSE:
            values |= {"state": CallState.REFUSED, "settled_seq": Seq(1), "answer_seq": Seq(1)}
            values |= {"holds_business_key": False}
        case Do.WAIT:
            values |= {"state": CallState.UNKNOWN, "next_look_at": move.until}
        case Do.SEND | Do.PARK:
            values |= {"state": CallState.UNKNOWN, "look_ups": 0, "maybe_applied": False}
    return values


def _poll(session: Session, row: Call, recorded: RecordedCall) -> None:
    assert recorded.contract is not None
    with looking(workspace=session.lease.workspace, task=session.lease.task, call=row.name) as notes:
        outcome = poll_act(recorded.contract, row.handle)
    session.later(notes)
    if isinstance(outcome, CannotTell):
        _poll_failed(session, row, recorded.contract, outcome.reason)
        return
    ready = ready_make(session, row, recorded.contract, recorded.arguments, anchor=time.monotonic(), seen=None)
    outcome_record(session, ready, outcome)


def _poll_failed(session: Session, row: Call, contract: Contract, reason: str) -> None:
    """Count it in the record, and ask again later; after a number of them in a row a person is asked."""
    move = after_failed_poll(call_facts(session, row, contract), now=database_now())
    event = CallObserved(
        name=row.name, look_up=row.look_ups + 1, answer="cannot tell", move=move.do, reason=reason or move.reason
    )
    values = {"look_ups": row.look_ups + 1, "next_look_at": move.until}
    if call_commit(session, row, [event], set=values, boundary=Boundary.LOOK_UP) and move.do == Do.DOUBT:
        doubt_commit(session, row, contract, rule=move.rule, reason=move.reason)


def _withdraw(session: Session, row: Call, reason: str, *, voided: str) -> None:
    """Withdraw a call that has had no effect, and void its approval, each for its reason."""
    event = CallWithdrawn(name=row.name, reason=reason)
    values = {"state": CallState.WITHDRAWN, "settled_seq": Seq(1), "answer_seq": Seq(1)}
    values |= {"holds_business_key": False}

    def inside() -> Inside:
        return Inside(after=gate().void(task=session.lease.task, names=frozenset({row.name}), reason=voided))

    call_commit(session, row, [event], set=values, boundary=Boundary.DECIDE, inside=inside)
