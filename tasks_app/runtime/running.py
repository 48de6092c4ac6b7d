"""Running calls whose attempt is committed, and recording what they answered."""

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextvars import copy_context
from typing import Any

from django.db import connections

from core.boundaries import Boundary, Position, cross
from tasks_app.contracts import Contract
from tasks_app.models import Call
from tasks_app.record.append import CallChange, Seq
from tasks_app.record.events import After, CallOutcome
from tasks_app.record.stored import event_stored
from tasks_app.resume import Do, after_refusal
from tasks_app.runtime.acting import Outcome, call_act
from tasks_app.runtime.granting import granted_first
from tasks_app.runtime.reading_back import read_back
from tasks_app.runtime.ready import Ready
from tasks_app.runtime.session import LeaseLost, Session
from tasks_app.status import HOLDS_BUSINESS_KEY, OPEN, CallState, EffectClass, answered


def calls_run(session: Session, ready: Sequence[Ready]) -> None:
    """Run calls, several at once unless a loss has made them go one by one; record each as it answers."""
    if any(item.contract.credentials for item in ready):
        ready, refused = granted_first(session, ready)
        for item, why in refused:
            error = {"code": why.code, "reason": why.reason}
            outcome_record(session, item, Outcome(outcome="refused", error=error))
        if not ready:
            return
    if len(ready) == 1 or session.task.one_by_one:
        for item in ready:
            outcome_record(session, item, InFlight(session, [item]).act(item))
        return
    flight = InFlight(session, ready)
    with ThreadPoolExecutor(max_workers=len(ready), thread_name_prefix="call") as pool:
        # Each in a copy of this context: it says which slice is meant, for traces and logs.
        futures = {pool.submit(copy_context().run, _act_in_thread, flight, item): item for item in ready}
        lost: LeaseLost | None = None
        for future in as_completed(futures):
            try:
                outcome_record(session, futures[future], future.result())
            except LeaseLost as error:  # the other answers are kept as well, each as a late receipt
                lost = error
        if lost:
            raise lost


class InFlight:
    """The calls that act right now: while they do, the keeper holds this process to their latest deadline.

    No longer than that: an answer that waits for a database that is away must not be killed (case-08).
    """

    def __init__(self, session: Session, ready: Sequence[Ready]) -> None:
        self._session, self._lock = session, threading.Lock()
        self._deadlines = {item.name: item.context.deadline for item in ready}
        self._tell()

    def act(self, item: Ready) -> Outcome:
        """Run one of them in this thread."""
        try:
            return call_act(
                item.contract,
                item.arguments,
                item.context,
                epoch_holds=lambda: not self._session.lost(),
                send_by=item.send_by,
                granted=item.granted,
            )
        finally:
            with self._lock:
                del self._deadlines[item.name]
                self._tell()

    def _tell(self) -> None:
        self._session.keeper.deadline(self._session.lease, max(self._deadlines.values(), default=None))


def _act_in_thread(flight: InFlight, item: Ready) -> Outcome:
    try:
        return flight.act(item)
    finally:
        connections.close_all()


def outcome_record(session: Session, item: Ready, outcome: Outcome) -> None:
    """Record what a tool answered: commit B, before anything reads the result; then read the effect back.

    The outcome of a call without effect rides in the next commit instead, once it is definite.
    """
    session.later(outcome.notes)
    outcome = _given_up(item, outcome)
    made = CallOutcome(
        name=item.name,
        attempt=item.context.attempt,
        outcome=outcome.outcome,
        result=outcome.result,
        error=outcome.error,
        reference=outcome.reference or None,
        sent=outcome.sent,
        settles=(outcome.outcome == "ok" and item.contract.verify is None) or None,
        handle=outcome.handle or None,
        sandbox=outcome.used,
    )
    event = event_stored(made)
    values = _change(session, item, outcome)
    if item.effect_class == EffectClass.NONE and values.get("state") not in OPEN:
        _ride(session, item, made, values, answer={"result": event.result, "error": event.error})
        return
    if outcome.outcome == "unknown":
        cross(Boundary.OUTCOME_UNKNOWN, Position.AFTER_RECEIVE, task=session.lease.task, call=item.name)

    def again() -> tuple[list[CallOutcome], dict[str, Any]]:
        nonlocal values
        values = _change(session, item, outcome)
        return [made], {"calls": _changes(item, values)}

    session.commit_again(again, boundary=Boundary.OUTCOME, call=item.name)
    if values.get("state") == CallState.OK:
        row = session.open[item.name]
        read_back(session, row, item.contract, item.arguments, event.result, outcome.reference)


def _change(session: Session, item: Ready, outcome: Outcome) -> dict[str, Any]:
    """Return the change of the call's row; none where it was answered or settled while this attempt ran."""
    row = session.open.get(item.name)
    return {} if row is None or answered(row.state) else outcome_values(row, item.contract, outcome)


def _changes(item: Ready, values: Mapping[str, Any]) -> list[CallChange]:
    return [CallChange(name=item.name, set=values)] if values else []


def _ride(
    session: Session, item: Ready, made: CallOutcome, values: dict[str, Any], *, answer: Mapping[str, Any]
) -> None:
    values |= {"attempts": item.context.attempt} if values.get("state") == CallState.REFUSED else {}
    session.later([made], calls=_changes(item, values))
    if values:
        session.unwritten_answer(item.name, state=values["state"], reference=made.reference or "", answer=answer)
        session.settled_later(item.name)


def _given_up(item: Ready, outcome: Outcome) -> Outcome:
    """A call without effect that had no answer in all its tries is refused: there is no effect to be unsure of."""
    tries = item.context.attempt
    if item.effect_class != EffectClass.NONE or outcome.outcome != "unknown" or tries < item.contract.attempts:
        return outcome
    reason = f"No answer in {tries} tries; the last: {(outcome.error or {}).get('reason', 'unknown')}"
    return Outcome(outcome="refused", error={"code": "no-answer", "reason": reason}, used=outcome.used)


def outcome_values(row: Call, contract: Contract, outcome: Outcome) -> dict[str, Any]:
    """Return the change of the ``call`` row for an outcome. Pure but for reading the row.

    Refused only if every attempt was definitely refused or provably never sent; one unknown attempt keeps it unknown.
    """
    values: dict[str, Any] = {"answer_seq": Seq(1), "next_look_at": None, "look_ups": 0}
    effect = EffectClass(row.effect_class)
    match outcome.outcome:
        case "ok":
            settled = contract.verify is None
            values |= {"state": CallState.ANSWERED if settled else CallState.OK, "maybe_applied": False}
            values |= {"settled_seq": Seq(1)} if settled else {}
            values |= {"reference": outcome.reference} if outcome.reference else {}
        case "started":
            values |= {"state": CallState.STARTED, "handle": outcome.handle, "next_look_at": After(outcome.again_after)}
            values |= {"maybe_applied": False}  # whatever an earlier attempt began, this handle tells of it
        case "refused" if not outcome.sent and effect != EffectClass.OPAQUE:
            values |= {"state": CallState.UNKNOWN, "next_look_at": After(0.2)}
        case "refused" if after_refusal(maybe_applied=row.maybe_applied).do == Do.REFUSE:
            values |= {"state": CallState.REFUSED, "settled_seq": Seq(1)}
        case "refused":
            values |= {"state": CallState.UNKNOWN, "look_first": True}
        case _:
            pause = outcome.again_after or min(0.25 * 2 ** max(row.attempts, 1), 10.0)
            resends = effect in {EffectClass.KEYED, EffectClass.NONE}
            values |= {"state": CallState.UNKNOWN, "maybe_applied": effect != EffectClass.NONE}
            values |= {"next_look_at": After(pause) if resends else None}
            untold = effect == EffectClass.NONE and not row.attempted_seq  # its tries are told by their outcomes alone
            values |= {"attempts": row.attempts + 1} if untold else {}
    values["holds_business_key"] = row.business_key is not None and values["state"] in HOLDS_BUSINESS_KEY
    return values
