"""One step: ask the agent, check the decision, commit it, begin what it started."""

import time
from typing import Any

from django.db import InterfaceError, OperationalError

from core.boundaries import Boundary
from core.tracing import span
from tasks_app import registry
from tasks_app.decisions import (
    UNCHANGED,
    Call,
    Calls,
    Complete,
    Decision,
    Fail,
    NewState,
    Spawn,
    WaitForChild,
    WaitForSignal,
    WaitUntil,
)
from tasks_app.record.append import Stale
from tasks_app.record.events import Event, StepDecided, TaskClaimedComplete
from tasks_app.record.stored import event_stored
from tasks_app.runtime.asking import Asked, OverBudget
from tasks_app.runtime.calling import calls_commit
from tasks_app.runtime.decided import step_decided
from tasks_app.runtime.ending import task_fail
from tasks_app.runtime.intending import CannotIntend
from tasks_app.runtime.session import LeaseLost, Session
from tasks_app.runtime.settled import settled_commit
from tasks_app.runtime.spawning import spawn_commit
from tasks_app.runtime.view_make import Book, budget_exceeded
from tasks_app.runtime.waiting import wait_commit

MOST_BAD_DECISIONS = 3
# An agent that took longer last time is asked with nothing riding: what is settled is committed first (C, alone).
THINKING_SECONDS = 0.05


def step_take(session: Session, book: Book) -> None:
    """Take one step. The decision is recorded before anything is done."""
    step = session.task.step + 1
    over = budget_exceeded(session.task)
    if over:
        task_fail(session, cause="budget", reason=over)
        return
    asked = Asked(session, step)
    try:
        decision = _decide(session, book, asked)
        _carry_out(session, book, decision, step, asked)
    except OverBudget as error:
        task_fail(session, cause="budget", reason=str(error))
    except CannotIntend as refusal:
        _refuse(session, book, step, asked, [refusal.refusal])


def _decide(session: Session, book: Book, asked: Asked) -> Decision:
    agent = registry.agent_find(session.task.agent, session.task.agent_version)
    assert agent is not None
    if session.thoughtful:
        settled_commit(session)
    began = time.monotonic()
    try:
        with span("agent.decide", task=session.lease.task, agent=agent.name, step=asked.step):
            decision = agent.decide(book.view(asked))
    except (OverBudget, LeaseLost, Stale, OperationalError, InterfaceError):
        raise  # not the agent's mistake
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"[:2000]
        raise CannotIntend("agent-error", f"The agent raised {reason}", name="") from error
    finally:
        session.thoughtful = time.monotonic() - began > THINKING_SECONDS
    if not isinstance(decision, Decision):
        raise CannotIntend("not-a-decision", f"The agent returned {type(decision).__name__}, no decision.", name="")
    return decision


def _carry_out(session: Session, book: Book, decision: Decision, step: int, asked: Asked) -> None:
    match decision:
        case Call():
            calls_commit(session, book, [decision], decision, step, asked)
        case Calls():
            calls_commit(session, book, list(decision.calls), decision, step, asked)
        case NewState():
            _commit_step(session, book, decision, step, asked, "state")
        case WaitUntil() | WaitForSignal() | WaitForChild():
            wait_commit(session, decision, step, decided=step_decided(book, decision, step, asked, "wait"))
            _took(session, book, decision)
        case Spawn():
            spawn_commit(session, decision, step, decided=step_decided(book, decision, step, asked, "spawn"))
            _took(session, book, decision)
        case Complete():
            _claim(session, book, decision, step, asked)
        case Fail():
            _commit_step(session, book, decision, step, asked, "fail")
            task_fail(session, cause="agent", reason=decision.reason)
        case _:
            raise CannotIntend("not-a-decision", f"{type(decision).__name__} is no decision that can be made.", name="")


def _took(session: Session, book: Book, decision: Decision) -> None:
    book.refused = ()
    if decision.state is not UNCHANGED:
        book.state = type(book.state)(session.task)


def _commit_step(
    session: Session,
    book: Book,
    decision: Decision,
    step: int,
    asked: Asked,
    does: str,
    more: list[Event] | None = None,
    task: dict[str, Any] | None = None,
) -> None:
    decided = step_decided(book, decision, step, asked, does)
    session.commit_again(
        lambda: ([decided.event, *(more or [])], {"task": {**decided.task, **(task or {})}}), boundary=Boundary.DECIDE
    )
    if decided.state:
        book.state.stored(decided.state)
    book.refused = ()


def _claim(session: Session, book: Book, decision: Complete, step: int, asked: Asked) -> None:
    claims = [claim.as_json() for claim in decision.claims]
    event = event_stored(TaskClaimedComplete(summary=decision.summary, claims=claims))
    _commit_step(
        session,
        book,
        decision,
        step,
        asked,
        "complete",
        [event],
        {"claim": {"summary": event.summary[:2000], "claims": event.claims, "step": step}},
    )


def _refuse(session: Session, book: Book, step: int, asked: Asked, refused: list[dict[str, Any]]) -> None:
    """Record a decision that cannot be carried out: it costs a step and is shown to the agent."""
    bad = session.task.bad_decisions + 1
    event = StepDecided(step=step, does="refused", refused=refused, **asked.fields())
    session.commit_again(
        lambda: ([event], {"task": {"step": step, "spent": asked.spent(), "bad_decisions": bad}}),
        boundary=Boundary.DECIDE,
    )
    book.refused = tuple(refused)
    if bad >= MOST_BAD_DECISIONS:
        reasons = "; ".join(item["reason"] for item in refused)
        task_fail(
            session, cause="bad_decisions", reason=f"{bad} decisions in a row could not be carried out: {reasons}"
        )
