"""Why a case that ended well is safe, in plain words: the same sentence of cause as on a real task's timeline, and
what the outside counted. Pure.
"""

from collections.abc import Sequence

from chaos_app.drills.evidence import Evidence
from chaos_app.drills.landed import mark_of
from chaos_app.drills.limbo import record_of
from chaos_app.drills.names import Stage, Verdict
from chaos_app.drills.tally import Told
from tasks_app.record.reducing_calls import Fact
from tasks_app.timeline.cause import takeover_cause


def why_right(evidence: Evidence, told: Sequence[Told], verdict: Verdict) -> str:
    """Return the cause and the count."""
    return " ".join(part for part in (_cause(evidence, told), _count(told), _end(told, verdict)) if part)


def _cause(evidence: Evidence, told: Sequence[Told]) -> str:
    for log in evidence.faults:
        landed, record = mark_of(log, Stage.LANDED), record_of(evidence, log)
        if landed is None or record is None:
            continue
        facts = next(one.case.facts for one in told if one.record is record)
        sentences = causes_of(facts)
        if sentences:
            return sentences[0]
    return ""


def causes_of(facts: Sequence[Fact]) -> list[str]:
    """Return the sentence of cause of each takeover of a record, in order."""
    found: list[str] = []
    before: list[Fact] = []
    lost = False
    for at, fact in enumerate(facts):
        if fact.kind == "slice.claimed" and lost:
            found.append(str(takeover_cause(before, facts[at:])))
            lost = False
        lost = lost or fact.kind == "slice.lost"
        before = [fact] if fact.kind == "checkpoint.advanced" else [*before, fact]
    return found


def _count(told: Sequence[Told]) -> str:
    counts = {name: one.count(name) for one in told for name in one.acting}
    if not counts:
        return "No call of the task has an effect outside."
    times = {0: "no effect", 1: "exactly one effect"}
    parts = [f"{times.get(count, f'{count} effects')} of {name}" for name, count in counts.items()]
    return f"The outside counted {' and '.join(parts)}."


def _end(told: Sequence[Told], verdict: Verdict) -> str:
    if verdict == Verdict.BLOCKED:
        doubts = [f.data["name"] for one in told for f in one.case.of("call.in_doubt")]
        return f"It is held for a person, by design{': ' + ', '.join(dict.fromkeys(doubts)) if doubts else ''}."
    return "The effect was rightly not done." if verdict == Verdict.NONE else ""
