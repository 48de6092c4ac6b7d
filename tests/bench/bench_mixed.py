"""500 tasks of a mixed load over two workers: every effect class, approvals decided at once, faults on the way."""

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import UUID

from tests.bench.place import approver, processes, spread, task_new, wait_until

TASKS = 500
GIVE_UP = 600.0  # seconds


def figures(folder: Path) -> Iterator[dict[str, Any]]:
    """The outside counts; a person who looks there answers approvals and doubts as fast as they come."""
    from tests.bench import mixed

    with processes(folder, workers=2):
        started = time.perf_counter()
        tasks = [task_new("bench.mixed", nth=nth).pk for nth in range(TASKS)]
        wait_until(lambda: _attended(tasks), seconds=GIVE_UP)
        took = time.perf_counter() - started
    counts = [_times(mixed.Entry(nth=nth, kind=kind)) for nth in range(TASKS) for kind in mixed.CALLS[:3]]
    yield {
        "figure": "500 tasks of a mixed load, two workers",
        "unit": "effects",
        "tasks": TASKS,
        "effects": len(counts),
        "once": counts.count(1),
        "repeated": sum(count > 1 for count in counts),
        "lost": counts.count(0),
        "faults": _faults(),
        "calls/s": round(TASKS * len(mixed.CALLS) / took, 1),
        "seconds": round(took, 1),
        "goal": "once = effects, repeated = lost = 0",
    }
    for kind in mixed.CALLS:
        yield {"figure": f"mixed load, {kind}: intended to answered", "unit": "s", **spread(_steps(tasks, kind))}


def _attended(tasks: list[UUID]) -> bool:
    """Answer what waits for a person; True once every task has completed."""
    from tasks_app.models import Task

    _approve()
    _settle()
    return Task.objects.filter(pk__in=tasks, status="completed").count() == len(tasks)


def _approve() -> None:
    from approvals_app.selectors.waiting import approvals_decidable
    from approvals_app.services.decide import approval_decide
    from approvals_app.status import Answer, Via

    person = approver()
    for request in approvals_decidable(user=person.user)[:50]:
        approval_decide(
            approval=request.pk,
            principal=person,
            decision=Answer.APPROVED,
            reason="",
            digest=request.digest,
            via=Via.API,
        )


def _settle() -> None:
    from tasks_app.models import Call
    from tasks_app.services.settle import TooEarly, call_settle
    from tests.bench.mixed import Entry

    for call in Call.objects.filter(state="in_doubt", tool="mixed.opaque").select_related("task__workspace"):
        entry = Entry(nth=call.task.intent["nth"], kind="opaque")
        times = _times(entry)
        with suppress(TooEarly):  # it may still arrive: asked again at the next look
            call_settle(
                workspace=call.task.workspace,
                task=call.task_id,
                name=call.name,
                actor="person:bench",  # whoever lets it run again may not approve it as well
                answer="happened" if times else "run_again",
                evidence=f"the outside holds it {times} times",
                reference=f"{entry.kind}-{entry.nth}" if times else "",
            )


def _times(entry: Any) -> int:
    from tests.bench.mixed import page

    return len(page(entry).read_text().splitlines()) if page(entry).exists() else 0


def _faults() -> dict[str, int]:
    from collections import Counter

    from tests.bench.mixed import CALLS, Entry, fault

    found = Counter(fault(Entry(nth=nth, kind=kind)) for nth in range(TASKS) for kind in CALLS[:3])
    return {name: times for name, times in sorted(found.items()) if name}


def _steps(tasks: list[UUID], kind: str) -> list[float]:
    from tasks_app.models import Call, Event

    seqs = Call.objects.filter(task__in=tasks, name=kind).values_list("task_id", "intended_seq", "answer_seq")
    moments = {
        (stream, seq): at
        for stream, seq, at in Event.objects.filter(
            stream__in=tasks, seq__in={n for _, *both in seqs for n in both if n}
        ).values_list("stream", "seq", "at")
    }
    return [(moments[task, done] - moments[task, begun]).total_seconds() for task, begun, done in seqs if done]
