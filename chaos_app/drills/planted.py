"""The planted bugs (H5): runs in which one guarantee is missing. A judge that does not see each of them proves nothing.

These are made by hand and judged beside every report, in milliseconds; runs of a product with the same bugs built in
carry the same names. Pure.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from chaos_app.drills.evidence import Evidence
from chaos_app.drills.names import Klass
from chaos_app.drills.script import Script


@dataclass(frozen=True, kw_only=True)
class Bug:
    """One planted bug: what is missing, and which invariants must be named (one of them at least)."""

    name: str
    says: str
    breaks: frozenset[str]
    make: Callable[[], Evidence]


def _new_key() -> Evidence:
    script = Script().claim().plan().attempt().arrive().die().claim()
    script.attempt(number=2, same=False, key="k-new").arrive(number=2, key="k-new")
    return script.answer(number=2).complete().evidence()


def _assume_done() -> Evidence:
    script = Script(Klass.READABLE, row="E02", position="before_send").claim().plan().attempt().die().claim()
    script.ours("call.outcome", name="act", attempt=1, outcome="ok", sent=True)
    return script.verify(looks=False).complete().evidence()


def _no_wait() -> Evidence:
    script = Script(Klass.READABLE, row="E03", position="in_flight").claim().plan().attempt().die().claim()
    script.look().ours("call.observed", name="act", look_up=1, answer="absent", move="send")
    script.arrive()  # the first request, late
    return script.attempt(number=2, same=False).arrive(number=2).answer(number=2).complete().evidence()


def _no_token_check() -> Evidence:
    script = Script(row="L05", position="situation").claim().plan().attempt().arrive().die().claim()
    script.say("call.outcome", epoch=1, name="act", attempt=1, outcome="ok", sent=True)
    return script.verify().complete().evidence()


def _consumed_twice() -> Evidence:
    script = Script(row="A04", position="situation").claim()
    script.plan(policy={"outcome": "ask"}).ours("approval.requested", approval="a1", name="act", digest="d-act")
    script.say("approval.decided", approval="a1", name="act", digest="d-act", decision="approved", by="silas")
    used: dict[str, Any] = {"approval": "a1", "name": "act", "digest": "d-act"}
    script.ours("approval.consumed", **used).attempt(under_approval="a1").arrive().die().claim()
    script.ours("approval.consumed", **used).attempt(number=2, under_approval="a1").arrive(number=2, applied=False)
    return script.answer(number=2).complete().evidence()


def _not_looked() -> Evidence:
    script = Script(row="E08", position="before").claim().plan().attempt().arrive(applied=False)
    script.ours("call.outcome", name="act", attempt=1, outcome="ok", sent=True, reference="R-9").die().claim()
    return script.verify(looks=False, reference="R-9").complete().evidence()


def _asked_again() -> Evidence:
    script = Script().claim().plan(business_key="pay-1").attempt().arrive(business_key="pay-1").die().claim()
    script.attempt(number=2, same=False).arrive(number=2, applied=False).answer(number=2)
    script.plan("act-again", step=2, business_key="pay-1").attempt("act-again")
    script.arrive("act-again", business_key="pay-1")
    script.ours("call.outcome", name="act-again", attempt=1, outcome="ok", sent=True)
    return script.verify("act-again", reference="R-2", step=2).complete(step=3).evidence()


def _sibling() -> Evidence:
    script = Script(Klass.READABLE, row="E02", position="before_send").claim()
    script.plan("other").attempt("other").arrive("other").answer("other")
    script.plan(step=2).attempt().die().claim()
    return script.found(reference="R-1").verify(step=2).complete(step=3).evidence()


BUGS = (
    Bug(name="new key on retry", says="an attempt carries another key", breaks=frozenset({"S9"}), make=_new_key),
    Bug(name="assume done", says="what was begun is taken for done", breaks=frozenset({"S5", "S6"}), make=_assume_done),
    Bug(
        name="no wait before the look-up",
        says="looked up while the request may still arrive",
        breaks=frozenset({"S1"}),
        make=_no_wait,
    ),
    Bug(
        name="no token check",
        says="without the lease, and may write",
        breaks=frozenset({"S7"}),
        make=_no_token_check,
    ),
    Bug(name="approval consumed twice", says="one approval, two uses", breaks=frozenset({"S4"}), make=_consumed_twice),
    Bug(
        name="verified without looking",
        says="called verified, not read back",
        breaks=frozenset({"S5"}),
        make=_not_looked,
    ),
    Bug(
        name="asked twice under another name",
        says="the same act again, let through",
        breaks=frozenset({"S1"}),
        make=_asked_again,
    ),
    Bug(
        name="a sibling's effect adopted",
        says="another call's effect is taken over",
        breaks=frozenset({"S5", "S6"}),
        make=_sibling,
    ),
)
BY_NAME: Mapping[str, Bug] = {bug.name: bug for bug in BUGS}


def planted() -> list[Evidence]:
    """Return the evidence of each bug, made by hand."""
    return [replace(bug.make(), planted_bug=bug.name) for bug in BUGS]
