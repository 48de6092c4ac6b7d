"""Agents that run outside of Handrail and execute their calls themselves.

Their tasks carry agent version 0. Nothing of such a task is ever sent from here: workers only tend to it (a report
that did not come, an effect to be read back, completion, a cancel). The agent holds a slice while it acts; its lease
runs to the attempt's deadline, and the execution token is the fencing token of that lease.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tasks_app.contracts import Answer, CallContext, Contract, Refused
from tasks_app.decisions import Decision, complete, fail, wait_for_signal
from tasks_app.sandbox.spec import Wanted
from tasks_app.status import EffectClass

if TYPE_CHECKING:
    from tasks_app.view import TaskView

EXTERNAL_HOLDER = "gate:"  # how the holder of a lease is named that an agent outside has taken
OUTSIDE, FINISHED = "outside", "gate.finished"  # the wait that stands as long as the agent works, and what ends it


def external_contract(contract: Contract) -> Contract:
    """Return the contract as it holds for a call that is sent from outside: we see nothing of how it is sent."""
    reason = "Its agent executes it, outside."
    return replace(contract, effect_class=EffectClass.OPAQUE, sandbox=Wanted.NONE, sandbox_reason=reason)


def outside_only(arguments: Any, context: CallContext) -> Answer:
    """Refuse: nobody here knows how to execute it."""
    raise Refused("Only an agent outside executes this tool, through the gate.", sent=False)


def external_decide(view: "TaskView") -> Decision:
    """Decide what is left to decide here: wait until the agent says that it has finished, then end the task.

    It is complete where an effect is there; otherwise it has failed, for the reason that its agent or its last call
    gives.
    """
    if OUTSIDE not in view.waits:
        return wait_for_signal(FINISHED, name=OUTSIDE)
    said: dict[str, Any] = dict(view.waits[OUTSIDE] or {})
    summary = str(said.get("summary") or "")
    if said.get("outcome") == "failed":
        return fail(summary or "Its agent, outside, gave up.")
    calls = [view.calls[name] for name in view.calls]
    if any(call.ok or call.unverified for call in calls):
        return complete(summary=summary or "Its agent, outside, has finished.")
    refusals = [str(call.refusal.get("reason", "")) for call in calls if call.refusal]
    return fail(f"Nothing was done: {refusals[-1]}" if refusals else summary or "Nothing was done.")
