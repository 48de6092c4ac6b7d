"""Samples for the style page of what decides and what drills: rows, quorum, differences, calls, matrix, trend."""

from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

from approvals_app.differences import differences
from core.words import word
from tasks_app.timeline.call_split import calls_split

_LINES = [
    ("requested", "high", "Pay 480.00 EUR to Brightcart GmbH"),
    ("requested", "low", "checkout-api: database.pool_size from 20 to 40, kept waiting without a deadline"),
    ("approved", "medium", "session-store: cache.ttl_seconds from 900 to 1800"),
    ("denied", "high", "Delete the branch release-\u2066"),
    ("expired", "low", "Mail on-call: the queue is empty again"),
    ("voided", "medium", "geo-pricing: rates.ttl_seconds from 86400 to 3600"),
]
_BEFORE = {"amount": "480.00", "to": "Brightcart GmbH", "memo": "Credit for incident 101", "urgent": False}
_AFTER = {"amount": "408.00", "to": "Brightcart GmbH", "memo": "Credit for incident 101, part 1", "account": "EU-2"}


def desk_samples(now: datetime) -> dict[str, Any]:
    """Return rows of the desk in each state, a quorum that is half there, and the differences of an edit."""
    task = SimpleNamespace(agent="incident.remediate", title="Checkout: connection pool exhausted")
    silas, noor = (SimpleNamespace(get_username=name) for name in ("silas", "noor"))
    rows = []
    for number, (status, risk, line) in enumerate(_LINES):
        fixed = {"pk": f"0193a7c2-5e1f-7c3a-9d0e-{number:012d}", "line": line, "risk": risk, "tool": "sample.tool"}
        decided = silas if status in {"approved", "denied"} else None
        times = {"requested_at": now - timedelta(minutes=4 + number), "decided_at": now, "closed_at": now}
        until = now + timedelta(minutes=26) if number == 0 else None
        closed = "edited by noor" if status == "voided" else ""
        more = {"decide_by": until, "decided_by": decided, "closed_reason": closed, "task": task, "status": status}
        rows.append(SimpleNamespace(**fixed, **times, **more))
    answers = [
        SimpleNamespace(answer="approved", user=silas, at=now - timedelta(minutes=1), reason="The invoice is ours.")
    ]
    answers.append(SimpleNamespace(answer="approved", user=noor, at=now, reason="", hasty=True))
    return {
        "desk_rows": rows,
        "quorum": SimpleNamespace(needed=3, so_far=2, answers=answers),
        "card": SimpleNamespace(waits=True, request=SimpleNamespace(group="finance")),
        "differences": differences(_BEFORE, _AFTER),
    }


def call_samples(now: datetime) -> list[Any]:
    """Return calls as a task's page lists them: verified after a decision, at work, and in doubt."""
    lives = {
        "ticket": ("verified", [("call.attempted", 1), ("call.verified", 3)]),
        "pay": ("in_doubt", [("approval.requested", 1), ("approval.decided", 50), ("call.attempted", 52)]),
        "mail": ("attempted", [("call.attempted", 2)]),
    }
    begin, found = now - timedelta(seconds=90), []
    for number, (name, (state, events)) in enumerate(lives.items()):
        told = [("call.intended", 0), *events, *([("call.in_doubt", 60)] if state == "in_doubt" else [])]
        facts = [(kind, name, begin + timedelta(seconds=at)) for kind, at in told]
        split = calls_split(facts, running={name: state != "verified"}, now=now)[name]
        call = SimpleNamespace(name=name, tool=f"sample.{name}", attempts=1, reference="T-7" if not number else "")
        found.append(SimpleNamespace(call=call, seq=number + 1, word=word("call", state), split=split, in_doubt=False))
    return found


def drill_samples(now: datetime) -> dict[str, Any]:
    """Return a matrix with each kind of square, and the trend of one case."""

    def square(verdict: str, *, wrong: bool = False, of: int = 6) -> Any:
        times = {"takeover": 0.14, "takeover_bound": 1.0, "settled": 0.9, "settled_bound": 5.0}
        allowed = of - 1 if wrong else of
        ends = [(verdict, 1), ("ONCE", of - 1)] if wrong else [(verdict, of)]
        return SimpleNamespace(
            klass="keyed", verdict=verdict, is_wrong=wrong, results=[0] * of, as_allowed=allowed, ends=ends, **times
        )

    never = SimpleNamespace(results=[], why="No call of this class waits for a person.")
    squares = [
        square("ONCE"),
        square("BLOCKED"),
        square("REPEATED", wrong=True),
        square("NOT_FIRED", wrong=True),
        never,
    ]
    cases = [
        SimpleNamespace(takeover=0.1 + n / 20, verdict="ONCE", is_violation=n == 4, ended_at=now) for n in range(6)
    ]
    for number, case in enumerate(cases):
        case.run_id, case.pk = f"0193a7c2-5e1f-7c3a-9d0e-{number:012d}", number + 1
    return {
        "columns": ["keyed", "readable", "precondition", "opaque", "none"],
        "lines": [SimpleNamespace(row="E04", title="applied, answer lost", squares=squares)],
        "task": SimpleNamespace(pk="0193a7c2-5e1f-7c3a-9d0e-00018b2c4f71"),
        "undecided": {"NOT_FIRED", "INCONCLUSIVE"},
        "trend": [SimpleNamespace(case=case, x=20 + 40 * n, y=50 - 6 * n) for n, case in enumerate(cases)],
        "plot_of_trend": SimpleNamespace(width=260, height=60, bound=12),
        "bound_seconds": 1.0,
    }
