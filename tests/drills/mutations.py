"""Ways to break the product, one guarantee each: what is taken out, which cases must see it, and what they must say.

``python -m tests.drills.broken`` plays them. Each edit is a text that stands once in the product as it is.

Some guarantees stand behind another one and show in no drill when they are taken out alone: an approval that was taken
back also voids its call; what leaves after ``send_by`` is ended by the keeper at the deadline, and who looks does so
later. Their own tests take them out (``tests/integration/faults``, ``tests/integration/approvals_app``).
"""

from dataclasses import dataclass

from chaos_app.drills.names import Verdict

REPEATED, WRONG, STUCK, ONCE = Verdict.REPEATED, Verdict.WRONG, Verdict.STUCK, Verdict.ONCE


@dataclass(frozen=True, kw_only=True)
class Edit:
    """One text of one file, and what is put in its place."""

    file: str
    old: str
    new: str


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What a case must say: its verdict (``ONCE``: where that is not allowed), and words of its sentence of cause."""

    cell: str
    verdict: Verdict
    says: str


@dataclass(frozen=True, kw_only=True)
class Mutation:
    """One guarantee that is taken out."""

    name: str
    edits: tuple[Edit, ...]
    seen: tuple[Seen, ...]


ACT = "            outcome_record(session, item, InFlight(session, [item]).act(item))\n        return\n"
BEFORE_ACT = """            if item.effect_class != EffectClass.NONE:
                made = CallOutcome(
                    name=item.name,
                    attempt=item.context.attempt,
                    outcome="ok",
                    result={"key": item.context.key, "id": "x"},
                    sent=True,
                    settles=True,
                )
                values = {"state": CallState.ANSWERED, "maybe_applied": False}
                values |= {"answer_seq": Seq(1), "settled_seq": Seq(1)}
                change = CallChange(name=item.name, set=values)
                session.commit([made], boundary=Boundary.OUTCOME, calls=[change], call=item.name)
                InFlight(session, [item]).act(item)
                continue
"""
ATTEMPT = "    try:\n        session.commit(\n            [event],"
CONSUMED_ALONE = """    try:
        if recorded.gated:
            session.commit([], boundary=Boundary.DECIDE, inside=_t1(session, row, contract), call=row.name)
        session.commit(
            [event],"""
IN_DOUBT = """            return Move(
                do=Do.DOUBT, rule=rule, reason="Attempted, outcome unknown, and nothing outside can be looked up."
            )
"""

MUTATIONS = (
    Mutation(
        name="writes do not compare the token",
        edits=(Edit(file="tasks_app/record/statement.py", old="THEN 'fenced'\")", new="AND false THEN 'fenced'\")"),),
        seen=tuple(
            Seen(
                cell=cell,
                verdict=WRONG,
                says="A worker that had lost the task was allowed to write",
            )
            for cell in ("L05.situation.E05-before.keyed.zombie", "L05.situation.C02-before.keyed.zombie.asked")
        ),
    ),
    Mutation(
        name="each attempt has a random key",
        edits=(
            Edit(
                file="tasks_app/runtime/ready.py",
                old="        key=row.key,\n",
                new='        key=f"hr-{__import__("uuid").uuid4().hex}",\n',
            ),
        ),
        seen=(Seen(cell="E04.applied.keyed.kill", verdict=REPEATED, says="under another key than the record has"),),
    ),
    Mutation(
        name="a look-up does not wait for what can still arrive",
        edits=(Edit(file="tasks_app/resume.py", old="    if now < wait_until:\n", new="    if False:\n"),),
        seen=(
            Seen(
                cell="E03.in_flight.readable.kill",
                verdict=REPEATED,
                says="was looked up while its request could still arrive, seen as absent, and sent again",
            ),
        ),
    ),
    Mutation(
        name="the outcome is recorded before the request is sent",
        edits=(Edit(file="tasks_app/runtime/running.py", old=ACT, new=BEFORE_ACT + ACT),),
        seen=tuple(
            Seen(cell=cell, verdict=WRONG, says="was in the record before any request of it had reached the outside")
            for cell in ("E02.before_send.keyed.kill", "E02.before_send.opaque.kill")
        ),
    ),
    Mutation(
        name="an approval is used up in a transaction of its own",
        edits=(
            Edit(file="tasks_app/runtime/attempting.py", old=ATTEMPT, new=CONSUMED_ALONE),
            Edit(
                file="tasks_app/runtime/attempting.py",
                old="            inside=_t1(session, row, contract) if recorded.gated or attempt == 1 else None,\n",
                new="",
            ),
        ),
        seen=(
            Seen(
                cell="A06.after.keyed.kill",
                verdict=WRONG,
                says="was not used in the transaction of its first attempt",
            ),
        ),
    ),
    Mutation(
        name="what can be looked up is sent again without looking",
        edits=(
            Edit(
                file="tasks_app/resume.py",
                old="            return _readable(call, now, rule)\n",
                new='            return _send(call, rule=rule, reason="again")\n',
            ),
        ),
        seen=(
            Seen(
                cell="E04.applied.readable.kill",
                verdict=REPEATED,
                says="was sent again without looking whether it had happened",
            ),
        ),
    ),
    Mutation(
        name="what nobody can look up is sent again",
        edits=(
            Edit(
                file="tasks_app/resume.py",
                old=IN_DOUBT,
                new='            return _send(call, rule=rule, reason="again")\n',
            ),
        ),
        seen=(
            Seen(
                cell="E04.applied.opaque.kill",
                verdict=REPEATED,
                says="cannot be looked up, and was sent again by itself instead of asking a person",
            ),
        ),
    ),
    Mutation(
        name="an answer is believed without reading back",
        edits=(
            Edit(
                file="tasks_app/runtime/reading_back.py",
                old="        observed = verify_act(contract, arguments, Answer(result=result, reference=reference))\n",
                new='        observed = __import__("tasks_app.contracts").contracts.Observed(matches=True)\n',
            ),
        ),
        seen=(
            Seen(
                cell="E10.situation.E08-before.keyed.effect-planted",
                verdict=ONCE,
                says="was called verified without looking outside",
            ),
        ),
    ),
    Mutation(
        name="nothing is looked for that is due",
        edits=(
            Edit(
                file="tasks_app/finders.py",
                old='        due = list(self._next().values_list("pk", "wake_at")[:BATCH])\n',
                new="        due: list[tuple[UUID, datetime | None]] = []\n",
            ),
        ),
        seen=(Seen(cell="B02.before.keyed.kill", verdict=STUCK, says="A task is due and nobody takes it"),),
    ),
    Mutation(
        name="a lease is never declared lost",
        edits=(
            Edit(
                file="tasks_app/losses.py",
                old="        if row is None or row.lease_nonce != nonce or (only_if_ran_out and not _ran_out(row)):\n",
                new="        if True:\n",
            ),
        ),
        seen=(
            Seen(
                cell="L03.after.keyed.kill",
                verdict=STUCK,
                says="Nobody took the task over from the lost worker. Its loss is not in the record",
            ),
        ),
    ),
    Mutation(
        name="an approval never gets too old",
        edits=(
            Edit(
                file="approvals_app/services/locks.py",
                old="    return request.run_by is not None and request.run_by <= now\n",
                new="    return False\n",
            ),
        ),
        seen=(Seen(cell="A05.situation.keyed.expired", verdict=WRONG, says="was used after it had run out"),),
    ),
    Mutation(
        name="a task is complete without its criteria",
        edits=(
            Edit(
                file="tasks_app/runtime/completing.py",
                old="    missing = missing_of(checked)\n",
                new="    missing: list[dict[str, Any]] = []\n",
            ),
        ),
        seen=(
            Seen(
                cell="F02.before.keyed.kill.claims", verdict=WRONG, says="was completed without every criterion holding"
            ),
        ),
    ),
    Mutation(
        name="a copy acts under the keys of its source",
        edits=(
            Edit(
                file="tasks_app/runtime/intending.py",
                old="        key=call_key(task.pk, step, ordinal),\n",
                new="        key=call_key(UUID(str(origin_of(task).get('task', task.pk))), step, ordinal),\n",
            ),
            Edit(
                file="tasks_app/runtime/intending.py",
                old="from tasks_app.runtime.granting import looking\n",
                new="from tasks_app.runtime.granting import looking\nfrom tasks_app.runtime.origin import origin_of\n",
            ),
        ),
        seen=(Seen(cell="E02.before_send.keyed.kill.copied.hit2", verdict=WRONG, says="The copy sent under the key"),),
    ),
)
