"""Whether the fault really happened (H1), and whether the evidence can be believed (H2 to H4). Pure.

A fault that did not land is never a pass.
"""

from chaos_app.drills.evidence import Control, Evidence, FaultLog, Mark
from chaos_app.drills.names import Fault, Proof, Stage
from chaos_app.drills.row import SITUATION
from chaos_app.drills.tally import ambiguous

KILLED = frozenset({Fault.KILL, Fault.KILL_WORKER, Fault.KILL_BOTH})
STOPPED = frozenset({Fault.ZOMBIE, Fault.FORSAKEN})
ENDED = KILLED | {Fault.TERM, Fault.TERM_TWICE, Fault.QUIT, Fault.SWEEPER, Fault.SANDBOX}
HELD = KILLED | {Fault.TERM, Fault.TERM_TWICE, Fault.QUIT, *STOPPED, Fault.HANG, Fault.EXCEPTION, Fault.CLOCK}
_DEATH = frozenset({Proof.EXIT_STATUS, Proof.PROCESS_GONE})
_BROKER = frozenset({Proof.SERVER_RESTARTED, Proof.PROXY_LOG})  # or it says itself that it is empty
_PROXY = frozenset({Proof.PROXY_LOG})
_TOOL = frozenset({Proof.WITNESS_LOG, Proof.PROXY_LOG})
PROOFS: dict[Fault, frozenset[Proof]] = {
    **dict.fromkeys(ENDED, _DEATH),
    **dict.fromkeys(STOPPED, frozenset({Proof.STOPPED})),
    Fault.HANG: _DEATH | {Proof.RECORD},
    **dict.fromkeys([Fault.EXCEPTION, Fault.CLOCK], frozenset({Proof.TOLD})),
    Fault.CONNECTION_CUT: frozenset({Proof.BACKEND_GONE, Proof.PROXY_LOG}),
    Fault.DATABASE_RESTART: frozenset({Proof.SERVER_RESTARTED}),
    Fault.FAILOVER: frozenset({Proof.SERVER_RESTARTED, Proof.PROXY_LOG}),
    **dict.fromkeys([Fault.BROKER_STOPPED, Fault.BROKER_EMPTIED, Fault.BROKER_RESTART], _BROKER),
    **dict.fromkeys([Fault.MESSAGE_TWICE, Fault.MESSAGE_LOST], _PROXY),
    **dict.fromkeys([Fault.ANSWER_LOST, Fault.ANSWER_LATE, Fault.ANSWER_GARBAGE, Fault.ANSWER_SLOW], _TOOL),
    **dict.fromkeys([Fault.ANSWER_ERROR, Fault.EFFECT_LATE, Fault.EFFECT_HIDDEN, Fault.EFFECT_PLANTED], _TOOL),
    **dict.fromkeys([Fault.CREDENTIAL, Fault.DECIDED_TWICE, Fault.RESUMED_BY_MANY], _TOOL | {Proof.RECORD}),
    **dict.fromkeys([Fault.EXPIRED, Fault.REVOKED, Fault.EDITED], frozenset({Proof.RECORD})),
    **dict.fromkeys([Fault.CANCELLED, Fault.STOPPED], frozenset({Proof.RECORD})),
    Fault.TWO_SWEEPERS: frozenset({Proof.TOLD}),
}


def why_not_landed(evidence: Evidence) -> str:
    """Return why the fault, or the second one, does not count as landed; "" where each has."""
    if not evidence.faults:
        return "No fault was armed."
    return next((why for log in evidence.faults if (why := _why_not(log, evidence))), "")


def _why_not(log: FaultLog, evidence: Evidence) -> str:
    where = log.row if log.position == SITUATION else f"{log.row} {log.position}"
    failed = mark_of(log, Stage.FAILED)
    if failed:
        why = (failed.what or "no reason was seen").removesuffix(".")
        return f"The fault at {where} was done and had no effect: {why}."
    if log.fault in HELD and not mark_of(log, Stage.REACHED):
        return f"No process came to {where} for the {_nth(log.hit)} time."
    landed = mark_of(log, Stage.LANDED)
    if landed is None:
        return f"Nothing proves that {log.fault} at {where} happened."
    if landed.proof not in PROOFS[log.fault]:
        return f"{log.fault} at {where} is not proven by: {landed.proof or 'nothing'}."
    return _why_alive(log, landed, evidence)


def _why_alive(log: FaultLog, landed: Mark, evidence: Evidence) -> str:
    if log.fault in KILLED and landed.proof == Proof.EXIT_STATUS and "SIGKILL" not in (landed.exit_status or ""):
        return f"The process at {log.row} {log.position} ended by itself ({landed.exit_status}), not by the signal."
    if log.fault not in KILLED or landed.epoch is None:
        return ""
    for record in evidence.tasks:
        if log.task and record.task != log.task:
            continue
        for event in record.events:
            late = event.at > landed.at + evidence.expected.clocks and event.epoch == landed.epoch
            if late and event.kind != "call.late_receipt":
                return f"The process that was killed went on: it wrote event {event.seq} ({event.kind}) afterwards."
    return ""


def _nth(hit: int) -> str:
    return {0: "last", 1: "first", 2: "second", 3: "third"}.get(hit, f"{hit}th")


def mark_of(log: FaultLog, stage: Stage) -> Mark | None:
    """Return the first mark of a stage."""
    return next((mark for mark in log.marks if mark.stage == stage), None)


def why_unbelievable(evidence: Evidence) -> str:
    """Return why the evidence cannot tell (H2 to H4); "" where it can."""
    witness = evidence.witness
    if not witness.present:
        return "Nobody outside counted the effects of this target."
    if not witness.outside_worker:
        return "The outside count was written by the worker itself."
    if witness.gaps:
        return f"The outside count was not alive throughout: {witness.gaps[0]}"
    if witness.disagreements:
        return f"The outside count disagrees with what is stored outside: {witness.disagreements[0]}"
    return _twin_wrong(evidence) or ambiguous(evidence)


def twin_of(evidence: Evidence) -> Control | None:
    """Return the same run without the fault."""
    return next((control for control in evidence.controls if control.kind == "twin"), None)


def _twin_wrong(evidence: Evidence) -> str:
    twin = twin_of(evidence)
    if twin is None:
        return "There is no run without the fault to compare with."
    if twin.end != evidence.expected.end:
        return f"The run without the fault ended {twin.end}, and its workload declares {evidence.expected.end}."
    if dict(twin.statuses) != dict(evidence.expected.statuses):
        return f"The run without the fault ended {dict(twin.statuses)}, not {dict(evidence.expected.statuses)}."
    return ""
