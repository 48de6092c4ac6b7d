"""Attending: the one way by which a request reaches a system, with whatever was told to go wrong.

    arrival -> [late] -> [hold arrival] -> key taken -> [delay, hold before] -> applied -> [hold applied] -> answer

A sender that gives up does not undo what it sent: a request is carried to its end once it has arrived.
"""

import asyncio
import inspect
from collections.abc import Awaitable
from dataclasses import dataclass, replace
from typing import Literal, cast

from chaos_app.world.errors import Refused
from chaos_app.world.faults import At, Fault, Kind
from chaos_app.world.operation import Work
from chaos_app.world.outside import Outside
from chaos_app.world.visit import Reply, Visit

Ending = Literal["answered", "cut", "garbage", "slow"]


@dataclass(frozen=True)
class Answer:
    """How the sender is answered; ``seconds`` is for a slow answer."""

    reply: Reply
    ending: Ending = "answered"
    seconds: float = 0


class _Cut(Exception):
    """The hold was released with the wish to cut the connection."""


async def attend(outside: Outside, visit: Visit, work: Work) -> Answer:
    """Count the arrival, do the work under the fault that was told for it, count how it ended."""
    outside.armed.take(visit)
    visit.arrival = outside.ledger.arrive(visit)
    if visit.fault:
        outside.armed.log(visit, "fired")
    answer = await _answer(outside, visit, work)
    status = answer.reply.status if answer.ending in ("answered", "slow") else None
    outside.ledger.end(visit.arrival, status=status, ended=answer.ending, replayed=answer.reply.replayed)
    return answer


async def _answer(outside: Outside, visit: Visit, work: Work) -> Answer:
    fault = visit.fault
    try:
        if fault and fault.fault is Kind.REFUSE:
            raise Refused(fault.status or 422, "refused", "Refused, as told. Nothing was done.")
        if fault and fault.fault is Kind.APPLY_LATE:
            outside.later(_late(outside, visit, work, fault.wait))
            return _told_now(fault)
        await _hold(outside, visit, At.ARRIVAL)
        reply = await _process(outside, visit, work)
        await _hold(outside, visit, At.APPLIED)
    except Refused as refused:
        return Answer(_refusal(refused))
    except _Cut:
        return Answer(Reply(0, None), "cut")
    return _spoiled(fault, reply) if fault else Answer(reply)


async def _process(outside: Outside, visit: Visit, work: Work) -> Reply:
    remembered = outside.keys.enter(visit)
    if remembered:
        return remembered
    try:
        if visit.told(Kind.DELAY) and visit.fault:
            await asyncio.sleep(visit.fault.wait)
        await _hold(outside, visit, At.BEFORE)
        if visit.told(Kind.FAIL_BEFORE) and visit.fault:
            raise Refused(visit.fault.status or 503, "failed", "Failed before anything was done, as told.")
        reply = await _apply(outside, visit, work)
        if visit.told(Kind.PLANT) and visit.acts:
            await _apply(outside, replace(visit, planted=True, idempotency_key=None), work)
    finally:
        outside.keys.leave(visit)  # does nothing once the answer is remembered
    return reply


async def _apply(outside: Outside, visit: Visit, work: Work) -> Reply:
    if inspect.iscoroutinefunction(work):
        return await cast(Awaitable[Reply], work(outside, visit))
    with outside.storage.transaction():
        reply = cast(Reply, work(outside, visit))
        outside.keys.finish(visit, reply)
    return reply


async def _late(outside: Outside, visit: Visit, work: Work, seconds: float) -> None:
    await asyncio.sleep(seconds)
    visit.late = True
    try:
        reply = await _process(outside, visit, work)
        outside.armed.log(visit, f"late: {reply.status}{' replayed' if reply.replayed else ''}")
    except Refused as refused:
        outside.armed.log(visit, f"late: {refused.status} {refused.code}")


async def _hold(outside: Outside, visit: Visit, at: At) -> None:
    fault = visit.fault
    if fault is None or fault.fault is not Kind.HOLD or fault.at is not at:
        return
    if await outside.armed.park(visit, fault.wait) == "cut":
        raise _Cut


def _told_now(fault: Fault) -> Answer:
    if fault.answer == "accepted":
        return Answer(Reply(202, {"status": "accepted"}))
    if fault.answer == "error":
        return Answer(_refusal(Refused(fault.status or 504, "failed", "No answer in time, as told.")))
    return Answer(Reply(0, None), "cut")


def _spoiled(fault: Fault, reply: Reply) -> Answer:
    if fault.fault is Kind.LOSE_ANSWER or (fault.answer == "cut" and fault.fault in (Kind.FAIL_AFTER, Kind.PARTIAL)):
        return Answer(reply, "cut")
    if fault.fault is Kind.FAIL_AFTER:
        return Answer(_refusal(Refused(fault.status or 500, "failed", "Something failed, as told.")))
    if fault.fault is Kind.GARBAGE:
        return Answer(reply, "garbage")
    if fault.fault is Kind.SLOW:
        return Answer(reply, "slow", fault.wait)
    return Answer(reply)


def _refusal(refused: Refused) -> Reply:
    headers = {"Retry-After": "1"} if refused.code == "key_in_use" else {}
    return Reply(refused.status, refused.problem(), headers)
