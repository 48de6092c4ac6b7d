"""The words that pages use for the states that the code names; each with its glyph and tone.

The code keeps its own terms; a person reads these. A state that is missing here is shown under its own name
rather than breaking the page; the tests hold the table against the declared states.
"""

from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from core.moments import clock


@dataclass(frozen=True)
class Word:
    """How one state is shown. ``tone`` names a colour role: idle, busy, person, ok, bad or unknown."""

    glyph: str
    text: str
    tone: str


_TASK = {
    "queued": Word("queued", "Queued", "idle"),
    "running": Word("running", "Running", "busy"),
    "waiting": Word("timer", "Waiting", "idle"),
    "in_doubt": Word("unknown", "Outcome unknown: needs you", "unknown"),
    "paused": Word("paused", "Paused", "idle"),
    "cancelling": Word("cancelling", "Cancelling", "idle"),
    "quarantined": Word("stopped", "Stopped after 3 lost workers", "bad"),
    "unverified": Word("unverified", "Says done, check failed", "bad"),
    "completed": Word("done", "Completed", "ok"),
    "failed": Word("failed", "Failed", "bad"),
    "cancelled": Word("cancelled", "Cancelled", "idle"),
}
_WAITING = {
    "approval": Word("person", "Waiting for approval", "person"),
    "timer": Word("timer", "Waiting for a time", "idle"),
    "signal": Word("signal", "Waiting for a signal", "idle"),
    "child": Word("child", "Waiting for a child task", "idle"),
    "limit": Word("limit", "Waiting for a free place", "idle"),
    "worker_version": Word("version", "Waiting for a worker with its version", "idle"),
    "look_up": Word("lookup", "Checking outcome", "unknown"),
    "stop": Word("stopped", "Waiting: a stop switch is set", "person"),
    "work": Word("timer", "Waiting for outside work", "busy"),
    "outside": Word("timer", "Waiting for its agent, outside", "idle"),
}
_CALL = {
    "intended": Word("queued", "Planned", "idle"),
    "asked": Word("person", "Waiting for approval", "person"),
    "approved": Word("person", "Approved, not begun", "busy"),
    "attempted": Word("running", "Attempted", "busy"),
    "started": Word("timer", "Running outside", "busy"),
    "unknown": Word("unknown", "Outcome unknown", "unknown"),
    "ok": Word("lookup", "Answered, being checked", "busy"),
    "in_doubt": Word("unknown", "Outcome unknown: needs you", "unknown"),
    "answered": Word("done", "Answered, cannot be checked", "ok"),
    "verified": Word("done", "Verified", "ok"),
    "refused": Word("failed", "Refused: no effect", "bad"),
    "denied": Word("failed", "Denied", "bad"),
    "expired": Word("timer", "Not decided in time", "bad"),
    "lapsed": Word("timer", "Approved but too old, ask again", "bad"),
    "voided": Word("cancelled", "Withdrawn with its approval", "idle"),
    "withdrawn": Word("cancelled", "Withdrawn", "idle"),
    "happened": Word("person", "It happened, says a person", "ok"),
    "not_happened": Word("person", "It did not happen, says a person", "idle"),
    "unknown_settled": Word("person", "Nobody knows; the task went on", "unknown"),
}
_APPROVAL = {
    "requested": Word("person", "Waiting for a decision", "person"),
    "approved": Word("done", "Approved", "ok"),
    "denied": Word("failed", "Denied", "bad"),
    "expired": Word("timer", "Not decided in time", "bad"),
    "lapsed": Word("timer", "Approved but too old, ask again", "bad"),
    "revoked": Word("cancelled", "Revoked", "bad"),
    "voided": Word("cancelled", "Withdrawn", "idle"),
    "consumed": Word("done", "Used", "ok"),
}
_VERDICT = {
    "ONCE": Word("done", "Exactly once", "ok"),
    "NONE": Word("done", "Rightly not done", "ok"),
    "BLOCKED": Word("person", "Held for a person, by design", "person"),
    "REPEATED": Word("failed", "Happened twice", "bad"),
    "LOST": Word("failed", "Never happened", "bad"),
    "WRONG": Word("unverified", "Wrong result", "bad"),
    "STUCK": Word("stopped", "Never continued", "bad"),
    "NOT_FIRED": Word("queued", "Fault never happened", "unknown"),
    "INCONCLUSIVE": Word("unknown", "Cannot tell", "unknown"),
}
_EFFECT = {
    "none": Word("lookup", "No effect", "idle"),
    "keyed": Word("shield", "Safe to resend", "idle"),
    "readable": Word("lookup", "Can be looked up", "idle"),
    "opaque": Word("unknown", "Cannot be checked", "person"),
}
_RISK = {
    "low": Word("risk_low", "Low risk", "idle"),
    "medium": Word("risk_medium", "Medium risk", "person"),
    "high": Word("risk_high", "High risk", "bad"),
}
_DELIVERY = {
    "waiting": Word("timer", "Waiting", "busy"),
    "sent": Word("done", "Sent", "ok"),
    "quiet": Word("cancelled", "Not needed", "idle"),
    "dead": Word("failed", "Given up", "bad"),
}
_ALERT = {"stands": Word("stopped", "Stands", "bad"), "over": Word("done", "Over", "ok")}
VOCABULARY = MappingProxyType(
    {
        "task": _TASK,
        "waiting": _WAITING,
        "call": _CALL,
        "approval": _APPROVAL,
        "verdict": _VERDICT,
        "effect": _EFFECT,
        "risk": _RISK,
        "delivery": _DELIVERY,
        "alert": _ALERT,
    }
)


def word(family: str, state: str) -> Word:
    """Return how a state of a family (``task``, ``call``, ``approval``, ``verdict``, ``effect``, ``risk``) is shown."""
    return VOCABULARY[family].get(state) or Word("info", state.replace("_", " ").capitalize(), "idle")


def approval_word(status: str, *, why: str = "") -> Word:
    """Return how an approval's status is shown; of one that was withdrawn with what withdrew it, in a few words."""
    found = word("approval", status)
    if status != "voided" or not why:
        return found
    return Word(found.glyph, f"{found.text}: {why.partition(':')[0].partition(' (')[0]}", found.tone)


def task_word(status: str, *, waiting_for: str = "", until: datetime | None = None, losses: int = 3) -> Word:
    """Return how a task's status is shown, with what it waits for, until when, or how many workers it lost."""
    if status == "waiting" and waiting_for:
        found = word("waiting", waiting_for)
        return Word(found.glyph, f"{found.text} until {clock(until)}", found.tone) if until else found
    if status == "quarantined" and losses != 3:
        return Word("stopped", f"Stopped after {losses} lost workers", "bad")
    return word("task", status)
