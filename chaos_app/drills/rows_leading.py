"""The rows up to the moment before an effect: creating, taking, deciding, asking a person. Pure."""

from chaos_app.drills.names import Fault
from chaos_app.drills.row import BLOCKED, COMMIT, EITHER, HELD, NONE, Row
from core.boundaries import Position

PEOPLE = (Fault.EXPIRED, Fault.REVOKED, Fault.EDITED, Fault.CANCELLED, Fault.STOPPED)
ASKED = ("asked",)

LEADING = (
    Row(
        id="B01", title="while a task is being created", positions=COMMIT, resume="the same request gives the same task"
    ),
    Row(
        id="B02",
        title="the task exists, and no worker was told",
        positions=(Position.BEFORE,),
        resume="the sweeper finds what is due without any message",
        core=True,
    ),
    Row(
        id="L01",
        title="a worker was told of the task and has not taken it",
        positions=(Position.BEFORE,),
        resume="the message comes again, or the sweeper finds the task; a second one changes nothing",
        core=True,
    ),
    Row(
        id="L02",
        title="while a worker takes the task",
        positions=COMMIT,
        resume="the dead worker's lease is taken over under a new number",
        core=True,
    ),
    Row(
        id="L03",
        title="the task is taken and nothing is done yet",
        positions=(Position.AFTER,),
        resume="the next worker goes on at the last checkpoint",
        core=True,
    ),
    Row(
        id="L04",
        title="the worker hangs while its lease is renewed",
        places=(("E02", Position.BEFORE_SEND), ("D02", Position.BEFORE)),
        faults=(Fault.HANG,),
        allowed=EITHER,
        resume="the deadline of the call or of the work session ends it",
    ),
    Row(
        id="L05",
        title="the worker lost its lease and writes",
        places=(("E05", Position.BEFORE), ("C02", Position.BEFORE), ("F01", Position.BEFORE)),
        workloads=("act", "asked"),
        faults=(Fault.ZOMBIE,),
        opaque=EITHER,
        resume="each write is refused and kept apart; an answer that it holds becomes a late receipt",
        core=True,
    ),
    Row(
        id="L06",
        title="the worker lost its lease after the attempt was recorded, and sends",
        places=(("E02", Position.BEFORE_SEND),),
        faults=(Fault.ZOMBIE, Fault.FORSAKEN),
        opaque=HELD,
        of_call=True,
        resume="nothing is sent after the time that the attempt names; whoever looks, looks later than that",
        core=True,
    ),
    Row(
        id="D01",
        title="the model is being asked",
        positions=(*COMMIT, Position.AFTER_RECEIVE),
        workloads=("asks",),
        resume="the question is asked again; both are paid from the budget",
    ),
    Row(
        id="D02",
        title="a decision is being recorded",
        positions=COMMIT,
        workloads=("asked", "act"),
        resume="a decision that is recorded is used; one that is not is made anew",
        core=True,
    ),
    Row(
        id="D03",
        title="the call is planned and nothing was attempted",
        positions=(Position.AFTER,),
        workloads=("asked", "chain"),
        resume="the recorded arguments and the recorded key are used",
        core=True,
    ),
    Row(
        id="A01",
        title="an approval is asked for, and nobody was told",
        positions=(Position.AFTER,),
        workloads=ASKED,
        resume="the desk shows what is open in the record; no message is needed",
    ),
    Row(
        id="A02",
        title="while a person's decision is recorded",
        positions=COMMIT,
        workloads=ASKED,
        of_call=True,
        resume="one decision wins; the same answer again is the same answer",
        core=True,
    ),
    Row(
        id="A03",
        title="decided, and the task was not woken",
        positions=(Position.BEFORE,),
        workloads=ASKED,
        of_call=True,
        resume="an approved call is due work: any worker may take it",
        core=True,
    ),
    Row(
        id="A04",
        title="many give one approval, or take it up, at once",
        workloads=ASKED,
        faults=(Fault.RESUMED_BY_MANY, Fault.DECIDED_TWICE),
        resume="one answer decides, one worker uses it; the others stop",
        core=True,
    ),
    Row(
        id="A05",
        title="the approval is no longer valid when it is to be used",
        workloads=ASKED,
        faults=PEOPLE,
        allowed=frozenset({NONE, BLOCKED}),
        resume="it is refused: the call is asked for anew, or stops",
        core=True,
    ),
    Row(
        id="A06",
        title="the approval was just used, and nothing is sent",
        positions=(Position.AFTER,),
        workloads=ASKED,
        opaque=HELD,
        of_call=True,
        resume="as after any attempt; no second approval is asked for, the first is not given back",
        core=True,
    ),
)
