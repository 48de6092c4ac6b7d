"""Running calls whose attempt is committed, and recording what they answered."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

from django.db import connections

from core.boundaries import Boundary, Position, cross
from tasks_app.contracts import CallContext, Contract
from tasks_app.models import Call
from tasks_app.record.append import CallChange, Seq
from tasks_app.record.events import After, CallOutcome
from tasks_app.record.stored import event_stored
from tasks_app.runtime.acting import Outcome, call_act
from tasks_app.runtime.reading_back import read_back
from tasks_app.runtime.session import LeaseLost, Session
from tasks_app.status import HOLDS_BUSINESS_KEY, CallState, EffectClass


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """A call that may act now: its attempt, where one is needed, is committed."""

    name: str
    contract: Contract
    arguments: Any
    context: CallContext
    effect_class: EffectClass
    send_by: float | None


def ready_make(
    session: Session, row: Call, contract: Contract, arguments: Any, *, anchor: float, seen: str | None
) -> Ready:
    """Build a ``Ready`` from the call's row. ``anchor``: monotonic clock before the attempt was committed (seconds)."""
    effect = EffectClass(row.effect_class)
    send_by = anchor + SEND_SECONDS if effect != EffectClass.NONE else None
    context = CallContext(
        key=row.key,
        task=str(session.lease.task),
        name=row.name,
        attempt=row.attempts or 1,
        epoch=session.lease.token.epoch,
        deadline=anchor + SEND_SECONDS + contract.timeout,
        business_key=row.business_key,
        seen=seen,
    )
    return Ready(
        name=row.name, contract=contract, arguments=arguments, context=context, effect_class=effect, send_by=send_by
    )


SEND_SECONDS = 2.0  # an attempt is sent within this time of its commit, or never


def calls_run(session: Session, ready: Sequence[Ready]) -> None:
    """Run calls, several at once unless a loss has made them go one by one; record each as it answers."""
    if len(ready) == 1 or session.task.one_by_one:
        for item in ready:
            _watched(session, [item])
            outcome_record(session, item, _act(session, item))
            session.keeper.deadline(session.lease, None)
        return
    _watched(session, ready)
    with ThreadPoolExecutor(max_workers=len(ready), thread_name_prefix="call") as pool:
        futures = {pool.submit(_act_in_thread, session, item): item for item in ready}
        lost: LeaseLost | None = None
        for future in as_completed(futures):
            try:
                outcome_record(session, futures[future], future.result())
            except LeaseLost as error:  # the other answers are kept as well, each as a late receipt
                lost = error
        if lost:
            raise lost
    session.keeper.deadline(session.lease, None)


def _watched(session: Session, ready: Sequence[Ready]) -> None:
    session.keeper.deadline(session.lease, max(item.context.deadline for item in ready))


def _act(session: Session, item: Ready) -> Outcome:
    return call_act(
        item.contract,
        item.arguments,
        item.context,
        epoch_holds=lambda: not session.lost(),
        send_by=item.send_by,
    )


def _act_in_thread(session: Session, item: Ready) -> Outcome:
    try:
        return _act(session, item)
    finally:
        connections.close_all()


def outcome_record(session: Session, item: Ready, outcome: Outcome) -> None:
    """Record what a tool answered: commit B, before anything reads the result; then read the effect back.

    The outcome of a call without effect rides in the next commit instead.
    """
    row = session.open[item.name]
    made = CallOutcome(
        name=item.name,
        attempt=item.context.attempt,
        outcome=outcome.outcome,
        result=outcome.result,
        error=outcome.error,
        reference=outcome.reference or None,
        sent=outcome.sent,
    )
    event = event_stored(made)
    values = outcome_values(row, item.contract, outcome)
    changes = [CallChange(name=item.name, set=values)]
    if item.effect_class == EffectClass.NONE:
        session.later([made], calls=changes)
        answer = {"result": event.result, "error": event.error}
        session.unwritten_answer(item.name, state=values["state"], reference=outcome.reference, answer=answer)
        session.settled_later(item.name)
        return
    if outcome.outcome == "unknown":
        cross(Boundary.OUTCOME_UNKNOWN, Position.AFTER_RECEIVE, task=session.lease.task, call=item.name)
    session.commit_again(lambda: ([made], {"calls": changes}), boundary=Boundary.OUTCOME, call=item.name)
    if values["state"] == CallState.OK:
        read_back(session, row, item.contract, item.arguments, event.result, outcome.reference)


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
        case "refused" if not outcome.sent and effect != EffectClass.OPAQUE:
            values |= {"state": CallState.UNKNOWN, "next_look_at": After(0.2)}
        case "refused" if not row.maybe_applied:
            values |= {"state": CallState.REFUSED, "settled_seq": Seq(1)}
        case "refused":
            values |= {"state": CallState.UNKNOWN, "look_first": True}
        case _:
            pause = outcome.again_after or min(0.25 * 2 ** (row.attempts or 1), 10.0)
            resends = effect in {EffectClass.KEYED, EffectClass.NONE}
            values |= {"state": CallState.UNKNOWN, "maybe_applied": effect != EffectClass.NONE}
            values |= {"next_look_at": After(pause) if resends else None}
            values |= {"attempts": (row.attempts or 0) + 1} if effect == EffectClass.NONE else {}
    values["holds_business_key"] = row.business_key is not None and values["state"] in HOLDS_BUSINESS_KEY
    return values
