"""The sentence of a case names what was done wrong, not only that something is wrong."""

from dataclasses import replace

from chaos_app.drills.evidence import Witness
from chaos_app.drills.judge import judge
from chaos_app.drills.names import Klass, Verdict
from chaos_app.drills.script import Script, good


def test_a_request_that_left_after_its_time_is_named_not_whoever_looked_before_it_came():
    script = Script(Klass.READABLE).claim().plan().attempt().die().claim()
    script.now += 12  # past deadline and lag
    script.look().ours("call.observed", name="act", look_up=1, answer="absent", move="send")
    script.arrive()  # the first worker, which was only stopped
    said = judge(script.attempt(number=2, same=False).arrive(number=2).answer(number=2).complete().evidence())
    assert said.verdict == Verdict.REPEATED
    assert said.cause == "Attempt 1 of act was sent 13 s after the time by which it had to be sent."


def test_an_answer_that_stood_in_the_record_before_anything_had_arrived_is_named():
    script = Script().claim().plan().attempt()
    script.ours("call.outcome", name="act", attempt=1, outcome="ok", sent=True, settles=True).die().claim()
    made = script.complete().evidence()
    said = judge(made)
    assert said.is_violation
    assert said.cause == "The answer of act was in the record before any request of it had reached the outside."
    counts_effects_alone = replace(made, witness=replace(made.witness, source="ledger()"))
    assert "reached the outside" not in judge(counts_effects_alone).cause


def test_a_contradiction_that_was_passed_over_says_whether_anybody_looked():
    looked = good().evidence()
    cell = replace(looked.cell, row="E10", position="situation")
    said = judge(replace(looked, cell=cell)).cause
    assert said.startswith("act was called verified although the outside contradicts its answer. Here only")
    blind = replace(looked.witness, arrivals=tuple(one for one in looked.witness.arrivals if one.acts))
    said = judge(replace(looked, cell=cell, witness=blind)).cause
    assert said.startswith("act was called verified without looking outside. Here only")


def test_a_task_that_is_due_and_that_nobody_takes_says_so():
    made = good().evidence(quiet=False)
    (record,) = made.tasks
    unbegun = replace(record, status="queued", events=record.events[:1], head_seq=1)
    said = judge(replace(made, tasks=(unbegun,), faults=(), witness=Witness()))
    assert said.verdict == Verdict.STUCK
    assert said.cause.startswith(
        "A task is due and nobody takes it: no message reached a worker, and no sweeper found it"
    )


def test_a_loss_that_nobody_saw_is_told_from_one_that_nobody_followed():
    script = Script().claim().plan().attempt().arrive().die()
    made = replace(script.evidence(), quiet=False)
    assert judge(made).cause == "Nobody took the task over from the lost worker."
    (record,) = made.tasks
    unseen = replace(record, events=record.events[:-1], head_seq=0)
    said = judge(replace(made, tasks=(unseen,)))
    assert said.cause.endswith("Its loss is not in the record: nobody saw that it was dead, or said so.")
