"""Each verdict is given where it is due, on evidence made by hand; a gap in the evidence never becomes a pass."""

from dataclasses import replace

import pytest

from chaos_app.drills.evidence import Control, Evidence
from chaos_app.drills.judge import judge
from chaos_app.drills.names import Fault, Klass, Proof, Stage, Verdict
from chaos_app.drills.planted import BY_NAME, planted
from chaos_app.drills.script import Script, good

V = Verdict


def broken(evidence: Evidence) -> set[str]:
    return {b.invariant for b in judge(evidence).broken}


@pytest.mark.parametrize("klass", [Klass.KEYED, Klass.READABLE, Klass.PRECONDITION])
def test_a_good_run_is_once_and_says_why_it_was_safe(klass):
    said = judge(good(klass).evidence())
    assert (said.verdict, said.as_allowed, said.broken, said.unchecked) == (V.ONCE, True, (), ())
    assert "The worker was lost after attempt 1 of act" in said.cause
    assert "The outside counted exactly one effect of act." in said.cause


def test_an_opaque_effect_held_for_a_person_is_blocked_as_allowed():
    said = judge(good(Klass.OPAQUE).evidence())
    assert (said.verdict, said.as_allowed, said.broken) == (V.BLOCKED, True, ())
    assert said.cause.endswith("It is held for a person, by design: act.")


def test_a_keyed_effect_that_is_held_is_more_than_its_row_allows():
    said = judge(Script().claim().plan().attempt().arrive().die().claim().hold().evidence())
    assert (said.verdict, said.as_allowed, said.is_violation) == (V.BLOCKED, False, True)
    assert "Here only “Exactly once” is allowed" in said.cause


def test_an_effect_that_stands_twice_outside_is_repeated():
    script = Script().claim().plan().attempt().arrive().die().claim()
    said = judge(script.attempt(number=2, same=False).arrive(number=2).answer(number=2).complete().evidence())
    assert said.verdict == V.REPEATED
    assert not said.as_allowed
    assert "which should have known the key" in said.cause


def test_a_completed_task_whose_effect_is_missing_is_lost():
    script = Script().claim().plan().attempt().die().claim().attempt(number=2, same=False)
    assert judge(script.answer(number=2).complete().evidence()).verdict == V.LOST


def test_a_record_with_a_broken_chain_is_wrong_even_where_the_world_is_right():
    made = good().evidence()
    damaged = replace(made, tasks=(replace(made.tasks[0], chain=("Event 4 has another digest.",)),))
    assert judge(damaged).verdict == V.WRONG
    assert broken(damaged) == {"S11"}


def test_resume_rules_that_decide_otherwise_in_another_process_are_wrong():
    assert broken(good().evidence(rules=("a", "a", "b"))) == {"S12"}


def test_rules_that_were_not_run_again_are_said_to_be_unchecked():
    assert judge(good().evidence(rules=())).unchecked == ("S12",)


def test_another_end_than_without_the_fault_is_wrong():
    script = Script().claim().plan().attempt().arrive().die().claim()
    script.attempt(number=2, same=False).arrive(number=2, applied=False).answer(number=2)
    script.ours("task.failed", cause="agent", reason="gave up")
    script.status = "failed"
    said = judge(script.evidence())
    assert said.verdict == V.WRONG
    assert "ended failed; without the fault it ends completed" in said.cause


def test_a_task_that_nobody_takes_over_is_stuck():
    script = Script().claim().plan().attempt().arrive().die()
    script.status = "queued"
    said = judge(script.evidence(quiet=False))
    assert said.verdict == V.STUCK
    assert broken(script.evidence()) >= {"L1", "L2"}


def test_a_takeover_after_its_bound_is_stuck():
    made = good().evidence()
    assert judge(replace(made, expected=replace(made.expected, takeover_seconds=0.5))).verdict == V.STUCK


def test_a_doubt_that_names_no_way_to_check_is_stuck():
    made = good(Klass.OPAQUE).evidence()
    events = [replace(e, data=e.data | {"check": ""}) if e.kind == "call.in_doubt" else e for e in made.tasks[0].events]
    assert broken(replace(made, tasks=(replace(made.tasks[0], events=tuple(events)),))) == {"L3"}


def test_a_task_that_ran_into_its_limit_of_losses_is_stuck():
    script = Script().claim().plan().attempt().arrive().die().claim()
    script.status = "quarantined"
    assert "L4" in broken(script.evidence())


def landed_with(evidence: Evidence, **more: object) -> Evidence:
    log = evidence.faults[0]
    marks = tuple(replace(m, **more) if m.stage == Stage.LANDED else m for m in log.marks)  # type: ignore[arg-type]
    return replace(evidence, faults=(replace(log, marks=marks),))


NOT_FIRED = {
    "no fault was armed": lambda made: replace(made, faults=()),
    "nobody came there": lambda made: replace(made, faults=(replace(made.faults[0], marks=made.faults[0].marks[:1]),)),
    "nothing proves it": lambda made: replace(made, faults=(replace(made.faults[0], marks=made.faults[0].marks[:3]),)),
    "ended by itself": lambda made: landed_with(made, exit_status="exit 1"),
    "proven by something else": lambda made: landed_with(made, proof=Proof.PROXY_LOG),
    "the process went on": lambda made: landed_with(made, epoch=2),
    "a worker that ignores the signal": lambda made: landed_with(made, stage=Stage.FAILED, what="it lives on"),
}


@pytest.mark.parametrize("how", NOT_FIRED)
def test_a_fault_that_did_not_land_is_never_a_pass(how):
    said = judge(NOT_FIRED[how](good().evidence()))
    assert said.verdict == V.NOT_FIRED
    assert not said.as_allowed


def with_witness(made: Evidence, **more: object) -> Evidence:
    return replace(made, witness=replace(made.witness, **more))  # type: ignore[arg-type]


def misnamed(made: Evidence) -> Evidence:
    effect = made.witness.effects[0]
    return with_witness(made, effects=(replace(effect, call=f"{made.tasks[0].task}/other"),))


INCONCLUSIVE = {
    "no outside count": lambda made: with_witness(made, present=False),
    "written by the worker": lambda made: with_witness(made, outside_worker=False),
    "away for a while": lambda made: with_witness(made, gaps=("for 2 s",)),
    "disagrees with the storage": lambda made: with_witness(made, disagreements=("T-3 is not stored",)),
    "no twin": lambda made: replace(made, controls=()),
    "another twin": lambda made: replace(made, controls=(Control(kind="twin", end=V.NONE, effects={}),)),
}


@pytest.mark.parametrize("how", INCONCLUSIVE)
def test_evidence_that_cannot_tell_is_inconclusive(how):
    said = judge(INCONCLUSIVE[how](good().evidence()))
    assert said.verdict == V.INCONCLUSIVE
    assert not said.as_allowed


def test_an_entry_that_fits_two_calls_is_inconclusive():
    script = Script().claim().plan("other").attempt("other").arrive("other").answer("other")
    script.plan(step=2).attempt().arrive().die().claim()
    script.attempt(number=2, same=False).arrive(number=2, applied=False).answer(number=2).complete(step=3)
    made = script.evidence()
    swapped = replace(made.witness.effects[0], call=made.witness.effects[1].call)
    said = judge(with_witness(made, effects=(swapped, made.witness.effects[1])))
    assert said.verdict in {V.INCONCLUSIVE, V.REPEATED}
    assert not said.as_allowed


def test_a_proven_violation_beats_every_gap_in_the_evidence():
    script = Script().claim().plan().attempt().arrive().die().claim().attempt(number=2, same=False).arrive(number=2)
    made = script.answer(number=2).complete().evidence(controls=(), faults=())
    assert judge(with_witness(made, gaps=("for 2 s",))).verdict == V.REPEATED


def denied(status: str) -> Script:
    script = Script(row="A05", position="situation").claim().plan(policy={"outcome": "ask"})
    script.fault = Fault.REVOKED
    script.ours("approval.requested", approval="a1", name="act", digest="d-act").die()
    log = script.faults[0]
    script.faults = [replace(log, fault=Fault.REVOKED, marks=(replace(log.marks[-1], proof=Proof.RECORD, epoch=None),))]
    script.say("approval.revoked", approval="a1", name="act", by="silas", reason="no").claim()
    script.ours("checkpoint.advanced", step=1)
    script.complete()
    script.status = status
    return script


def test_an_effect_that_was_rightly_not_done_is_none():
    said = judge(denied("completed").evidence())
    assert (said.verdict, said.as_allowed) == (V.NONE, True), said


def test_what_the_fault_planted_is_not_counted():
    made = good().evidence()
    assert (
        judge(
            with_witness(made, effects=(*made.witness.effects, replace(made.witness.effects[0], planted=True)))
        ).verdict
        == V.ONCE
    )


def test_a_batch_item_twice_beside_one_that_is_missing_is_repeated():
    made = good().evidence()
    one = replace(made.witness.effects[0], key="k-act-1", item="1")
    doubled = with_witness(made, effects=(one, one, replace(one, key="k-act-2", item="2")))
    doubled = replace(doubled, expected=replace(doubled.expected, items={"act": 3}))
    assert judge(doubled).verdict == V.REPEATED


def test_times_are_measured_from_the_landed_fault():
    said = judge(good().evidence())
    assert said.takeover == pytest.approx(2.0)
    assert said.settled is not None
    assert said.settled > said.takeover


@pytest.mark.parametrize("name", BY_NAME)
def test_each_planted_bug_is_found_and_named(name):
    made = next(one for one in planted() if one.planted_bug == name)
    said = judge(made)
    assert said.is_violation
    assert {b.invariant for b in said.broken} & BY_NAME[name].breaks
    assert said.cause


CAUSES = {
    "new key on retry": "carried another key",
    "no wait before the look-up": "could still arrive",
    "no token check": "had lost the task was allowed to write",
    "approval consumed twice": "used twice",
    "asked twice under another name": "asked for the same act again",
    "a sibling's effect adopted": "effect of another call (other)",
    "verified without looking": "counted no look",
}


@pytest.mark.parametrize("name", CAUSES)
def test_the_sentence_names_the_cause(name):
    assert CAUSES[name] in judge(next(one for one in planted() if one.planted_bug == name)).cause


def test_an_effect_of_the_call_that_a_person_put_in_its_place_counts_for_the_first():
    script = Script().claim().plan()
    script.say("call.withdrawn", name="act", reason="edited by vera", replaced_by="act #2")
    made = {**script.events[-2].data, "name": "act #2", "key": "k-act #2", "ordinal": 1, "replaces": "act"}
    script.say("call.intended", **made)
    script.attempt("act #2").arrive("act #2").answer("act #2").complete()
    assert judge(script.evidence()).verdict not in {V.WRONG, V.LOST, V.NONE}


def test_where_nobody_held_the_task_a_person_s_later_act_is_not_read_into_that_moment():
    script = Script().claim().die()
    marks = tuple(replace(mark, epoch=None) for mark in script.faults[0].marks)
    script.faults[0] = replace(script.faults[0], marks=marks)
    script.claim().plan()
    script.say("call.withdrawn", name="act", reason="no longer wanted", replaced_by="")
    assert judge(script.complete().evidence()).verdict == V.NONE


@pytest.mark.parametrize(("fault", "ghost"), [(Fault.KILL, True), (Fault.FAILOVER, False)])
def test_an_effect_without_an_attempt_is_a_ghost_unless_the_database_lost_the_attempt(fault, ghost):
    made = Script().claim().plan().arrive().attempt(same=False).answer().complete().evidence()
    assert ("S2" in broken(replace(made, cell=replace(made.cell, fault=fault)))) is ghost


def test_the_takeover_of_a_stopped_process_is_counted_from_its_stop():
    made = Script().claim().plan().attempt().arrive().die().claim().attempt(number=2).arrive(number=2)
    evidence = made.answer(number=2).complete().evidence()
    (log,) = evidence.faults
    landed = next(mark for mark in log.marks if mark.stage == "landed")
    stopped = replace(landed, proof=Proof.STOPPED, at=landed.at + 2.5)
    fired = replace(landed, stage=Stage.FIRED, proof=None)
    marks = tuple(mark for mark in log.marks if mark.stage not in {"landed", "fired"})
    zombie = replace(log, fault=Fault.ZOMBIE, marks=(*marks, fired, stopped))
    said = judge(replace(evidence, faults=(zombie,)))
    assert said.takeover == pytest.approx(2.0)
