"""Sentences for the life of a call: planned, attempted, answered, looked up, read back, settled. Pure."""

from collections.abc import Callable, Mapping
from typing import Any

from tasks_app.timeline.parts import Line, Part, line, name, quote, reason_of

Data = Mapping[str, Any]
_EFFECTS = {
    "none": "no effect",
    "keyed": "safe to resend",
    "readable": "can be looked up",
    "opaque": "cannot be checked",
}
_SETTLED = {
    "happened": "happened",
    "not_happened": "did not happen",
    "unknown": "stays unknown, and let the task go on",
}


def _intended(data: Data, by: Part) -> Line:
    on = (" on ", name(data["resource"])) if data.get("resource") else ()
    effect = _EFFECTS.get(str(data.get("effect_class")), "")
    return line("Plans ", name(data.get("name")), ": ", name(data.get("tool")), *on, f" ({effect})")


def _attempted(data: Data, by: Part) -> Line:
    under = " under its approval" if data.get("under_approval") else ""
    begins = f"Attempt {data.get('attempt')} of "
    return line(begins, name(data.get("name")), f" begins{under}", tone="busy", glyph="running")


def _outcome(data: Data, by: Part) -> Line:
    which, why = name(data.get("name")), quote(reason_of(data.get("error")))
    match data.get("outcome"):
        case "ok":
            reference = (", outside reference ", name(data["reference"])) if data.get("reference") else ()
            return line(which, " answered ok", *reference)
        case "refused":
            return line(which, " was refused: definitely no effect", *why, tone="bad", glyph="failed")
        case "started":
            return line(which, " runs outside; it is asked for later", glyph="timer")
        case _:
            return line("Outcome of ", which, " unknown", *why, tone="unknown", glyph="unknown")


def _resume_decided(data: Data, by: Part) -> Line:
    until = f"; until {str(data['wait_until'])[11:19]} UTC" if data.get("wait_until") else ""
    rule = f" (rule {data.get('rule')})"
    reason = str(data.get("reason", "")).rstrip(".")
    return line("What must happen to ", name(data.get("name")), f": {reason}{until}{rule}", glyph="shield")


def _observed(data: Data, by: Part) -> Line:
    looked = ("Looked up ", name(data.get("name")))
    match data.get("answer"):
        case "found":
            reference = (" as ", name(data["reference"])) if data.get("reference") else ()
            adopted = ", and is taken over as the result" if data.get("adopted") else ""
            return line(*looked, ": it is there", *reference, adopted, tone="ok", glyph="lookup")
        case "absent":
            return line(*looked, ": it is not there", glyph="lookup")
        case _:
            return line(*looked, ": cannot tell", *quote(data.get("reason")), tone="unknown", glyph="lookup")


def _verified(data: Data, by: Part) -> Line:
    return line("Verified ", name(data.get("name")), ": read back, as intended", tone="ok", glyph="done")


def _late_receipt(data: Data, by: Part) -> Line:
    late = (f"Late answer to attempt {data.get('attempt')} of ", name(data.get("name")))
    outcome = f", by lease no. {data.get('held_epoch')}: {data.get('outcome')}"
    closes = "; the doubt is over" if data.get("closes_doubt") else ""
    return line(*late, outcome, closes, tone="unknown", glyph="info")


def _in_doubt(data: Data, by: Part) -> Line:
    needs = ("Outcome of ", name(data.get("name")), " unknown: needs a person")
    return line(*needs, *quote(data.get("reason")), tone="unknown", glyph="unknown")


def _settled(data: Data, by: Part) -> Line:
    said = _SETTLED.get(str(data.get("answer")), str(data.get("answer")))
    recorded = (" recorded that ", name(data.get("name")), f" {said}")
    return line(by, *recorded, *quote(data.get("evidence")), tone="person", glyph="person")


def _withdrawn(data: Data, by: Part) -> Line:
    replaced = (", replaced by ", name(data["replaced_by"])) if data.get("replaced_by") else ()
    return line(name(data.get("name")), " will not run", *replaced, *quote(data.get("reason")), glyph="cancelled")


def _repeat_allowed(data: Data, by: Part) -> Line:
    allowed = (" allowed the act of ", name(data.get("name")), " to be done once more")
    return line(by, *allowed, *quote(data.get("reason")), tone="person", glyph="person")


CALL_WORDS: Mapping[str, Callable[[Data, Part], Line]] = {
    "call.intended": _intended,
    "call.attempted": _attempted,
    "call.outcome": _outcome,
    "call.resume_decided": _resume_decided,
    "call.observed": _observed,
    "call.verified": _verified,
    "call.late_receipt": _late_receipt,
    "call.in_doubt": _in_doubt,
    "call.settled": _settled,
    "call.withdrawn": _withdrawn,
    "call.repeat_allowed": _repeat_allowed,
}
