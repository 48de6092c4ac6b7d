"""A step that calls tools: intend, commit (A, or with approval requests), begin."""

import time
from dataclasses import dataclass, field
from functools import partial

from django.db import IntegrityError

from core.boundaries import Boundary, Position, cross
from tasks_app import registry
from tasks_app.decisions import Call, Decision
from tasks_app.gate import ASK_LATER
from tasks_app.record.append import Admission, CallChange, Seq, Stale
from tasks_app.record.events import CallOutcome, Event
from tasks_app.runtime.asking import Asked
from tasks_app.runtime.attempting import admission_of, attempt_event, attempt_values
from tasks_app.runtime.decided import Decided, step_decided
from tasks_app.runtime.intending import CannotIntend, Intended, call_intend
from tasks_app.runtime.ready import Ready, ready_make
from tasks_app.runtime.requesting import asked_cross, requests_inside
from tasks_app.runtime.running import calls_run
from tasks_app.runtime.session import Session
from tasks_app.runtime.view_make import Book
from tasks_app.status import CallState, Status


def calls_commit(session: Session, book: Book, many: list[Call], decision: Decision, step: int, asked: Asked) -> None:
    """Commit a step of one or more calls and run what may run. Raises ``CannotIntend``; nothing is intended then."""
    intended = _intend_all(session, book, many, step)
    decided = step_decided(book, decision, step, asked, "call", names=[item.event.name for item in intended])
    ready = _commit_calls(session, decided, intended)
    if decided.state:
        book.state.stored(decided.state)
    book.refused = ()
    if ready:
        calls_run(session, ready)


def _intend_all(session: Session, book: Book, many: list[Call], step: int) -> list[Intended]:
    if not many:
        raise CannotIntend("no-calls", "The decision holds no call.", name="")
    names: dict[str, str] = {}
    result: list[Intended] = []
    for ordinal, one in enumerate(many):
        known = book.calls.get(one.name)
        if known:
            names[one.name] = known.state
        item = call_intend(one, task=session.task, step=step, ordinal=ordinal, names=names)
        names[one.name] = "intended"
        if item.event.business_key and any(i.event.business_key == item.event.business_key for i in result):
            raise CannotIntend("business-key-held", "Two calls of this decision are the same act.", name=one.name)
        result.append(item)
    return result


def _commit_calls(session: Session, decided: Decided, intended: list[Intended]) -> list[Ready]:
    """Commit A: decision, intentions, and, where nothing stands against them, the attempts of all that may run."""
    starts = [item for item in intended if item.needs_attempt and item.assessment.outcome == "allow"]
    if session.task.one_by_one:
        starts = starts[:1]
    anchor = time.monotonic()
    attempting = bool(starts) and session.status == Status.RUNNING
    asks = [item for item in intended if _asks(item)]
    while True:
        batch = _batch(session, decided, intended, starts if attempting else [], asking=bool(asks))
        try:
            session.commit(
                batch.events,
                task=decided.task,
                calls=batch.calls,
                boundary=Boundary.ATTEMPT if attempting else Boundary.DECIDE,
                admission=_admission(session, starts) if attempting else None,
                inside=partial(requests_inside, session, asks) if asks else None,
                call=intended[0].event.name if len(intended) == 1 else None,
            )
            break
        except Stale as stale:
            session.refresh()
            if stale.refusal.startswith(ASK_LATER):
                asks = []  # the decision is kept; each call is asked for when there is room
            elif stale.refusal.startswith(("stopped", "limit")):
                session.stopped = stale.refusal
            attempting = attempting and stale.refusal == "moved" and session.status == Status.RUNNING
            if session.status == Status.CANCELLING:
                return []  # nothing further starts
        except IntegrityError as error:
            if "call_business_key_once" not in str(error):
                raise
            raise CannotIntend(
                "business-key-held", "The same act was begun elsewhere at this moment.", name=""
            ) from error
    if not attempting:
        cross(Boundary.INTENDED, Position.AFTER, task=session.lease.task, epoch=session.lease.token.epoch)
    if asks:
        asked_cross(session.lease.task, session.lease.token.epoch)
    return _ready(session, intended, starts if attempting else [], anchor)


def _asks(item: Intended) -> bool:
    return item.assessment.outcome == "ask"


def _admission(session: Session, starts: list[Intended]) -> Admission:
    agent = registry.agent_find(session.task.agent, session.task.agent_version)
    return admission_of([item.contract for item in starts], agent.calls_at_once if agent else None)


@dataclass(slots=True)
class _Rows:
    events: list[Event] = field(default_factory=list)
    calls: list[CallChange] = field(default_factory=list)

    def seq(self) -> Seq:
        return Seq(len(self.events))


def _batch(
    session: Session, decided: Decided, intended: list[Intended], starts: list[Intended], *, asking: bool
) -> _Rows:
    rows = _Rows(events=[decided.event])
    for item in intended:
        rows.events.append(item.with_policy())
        rows.calls.append(item.change(session.task, seq=rows.seq(), state=_state(item, asking)))
        if item.assessment.outcome == "deny":
            _deny(rows, item)
    for item in starts:
        name = item.event.name
        rows.events.append(attempt_event(name, 1, item.event.key, item.contract))
        values = attempt_values(1, item.contract, session.lease.token.epoch, rows.seq())
        rows.calls = [
            CallChange(name=c.name, new=c.new, set={**c.set, **values}) if c.name == name else c for c in rows.calls
        ]
    return rows


def _state(item: Intended, asking: bool) -> CallState:
    states = {"ask": CallState.ASKED if asking else CallState.INTENDED, "deny": CallState.REFUSED}
    return states.get(item.assessment.outcome, CallState.INTENDED)


def _deny(rows: _Rows, item: Intended) -> None:
    """Policy says no: the call is recorded and refused at once; nothing was sent."""
    error = {"code": "denied-by-policy", "reason": item.assessment.reason, **dict(item.assessment.policy)}
    rows.events.append(CallOutcome(name=item.event.name, attempt=0, outcome="refused", error=error, sent=False))
    values = {"settled_seq": rows.seq(), "answer_seq": rows.seq(), "holds_business_key": False}
    last = rows.calls[-1]
    rows.calls[-1] = CallChange(name=last.name, new=True, set={**last.set, **values})


def _ready(session: Session, intended: list[Intended], starts: list[Intended], anchor: float) -> list[Ready]:
    """Return what may act now: started attempts, and calls without effect, which need none."""
    result = []
    for item in intended:
        row = session.open.get(item.event.name)
        plain = not item.needs_attempt and item.assessment.outcome == "allow" and session.status == Status.RUNNING
        if row is not None and (item in starts or plain):
            at = anchor if item in starts else time.monotonic()
            result.append(ready_make(session, row, item.contract, item.arguments, anchor=at, seen=item.event.seen))
    return result
