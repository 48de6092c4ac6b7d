"""From events to the state of each call, by name. Pure: no Django."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tasks_app.status import HOLDS_BUSINESS_KEY, CallState, EffectClass, answered

Row = dict[str, Any]
Calls = dict[str, Row]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One stored event, with its large values read back."""

    seq: int
    kind: str
    data: dict[str, Any]
    at: datetime
    epoch: int | None = None
    actor: str = ""


SETTLED_BY_PERSON = {
    "happened": CallState.HAPPENED,
    "not_happened": CallState.NOT_HAPPENED,
    "unknown": CallState.UNKNOWN_SETTLED,
    "run_again": CallState.WITHDRAWN,
}
FIXED = ("step", "ordinal", "tool", "contract_version", "effect_class", "digest", "key")


def _intended(calls: Calls, fact: Fact) -> None:
    row: Row = {name: fact.data[name] for name in FIXED}
    row |= {"business_key": fact.data.get("business_key"), "resource": fact.data.get("resource") or ""}
    row |= {"state": CallState.INTENDED, "attempts": 0, "maybe_applied": False, "look_first": False, "look_ups": 0}
    row |= {"first_attempt_at": None, "deadline": None, "attempt_epoch": None, "reference": "", "handle": ""}
    row |= {"intended_seq": fact.seq, "attempted_seq": None, "answer_seq": None, "settled_seq": None}
    row |= {"replaced_by": "", "holds_business_key": row["business_key"] is not None}
    calls[fact.data["name"]] = row
    if fact.data.get("replaces") in calls:
        calls[fact.data["replaces"]]["replaced_by"] = fact.data["name"]


def _state(row: Row, state: CallState) -> None:
    row["state"] = state
    row["holds_business_key"] = row["business_key"] is not None and state in HOLDS_BUSINESS_KEY


def _settle(row: Row, state: CallState, seq: int) -> None:
    _state(row, state)
    row |= {"answer_seq": seq, "settled_seq": seq}


def _attempted(calls: Calls, fact: Fact) -> None:
    row, data = calls[fact.data["name"]], fact.data
    if row["state"] == CallState.ATTEMPTED:
        row["maybe_applied"] = True  # the attempt of a lost epoch has no outcome
    _state(row, CallState.ATTEMPTED)
    row |= {"attempts": data["attempt"], "attempt_epoch": fact.epoch, "attempted_seq": fact.seq}
    row["deadline"] = datetime.fromisoformat(data["deadline"])
    if data["attempt"] == 1:
        row["first_attempt_at"] = fact.at


def _outcome(calls: Calls, fact: Fact) -> None:
    row, data = calls[fact.data["name"]], fact.data
    if answered(row["state"]):  # by another attempt's late receipt, say
        return
    row |= {"answer_seq": fact.seq, "look_ups": 0}
    match data["outcome"]:
        case "ok":
            _ok(row, data, fact.seq)
        case "started":
            _state(row, CallState.STARTED)
            row |= {"handle": data.get("handle") or "", "maybe_applied": False}
        case "refused":
            _refused(row, data, fact.seq)
        case _:
            _state(row, CallState.UNKNOWN)
            row["maybe_applied"] = row["effect_class"] != EffectClass.NONE
            _tried(row, data)


def _ok(row: Row, data: dict[str, Any], seq: int) -> None:
    _state(row, CallState.ANSWERED if data.get("settles") else CallState.OK)
    row |= {"maybe_applied": False, "reference": data.get("reference") or row["reference"]}
    if data.get("settles"):
        row["settled_seq"] = seq


def _refused(row: Row, data: dict[str, Any], seq: int) -> None:
    """Refused only if every attempt was definitely refused or provably never sent (policy's no has no attempt)."""
    not_sent = not data["sent"] and data["attempt"] > 0 and row["effect_class"] != EffectClass.OPAQUE
    if not_sent:
        _state(row, CallState.UNKNOWN)
    elif row["maybe_applied"]:
        _state(row, CallState.UNKNOWN)
        row["look_first"] = True
    else:
        _settle(row, CallState.REFUSED, seq)
        _tried(row, data)


def _tried(row: Row, data: dict[str, Any]) -> None:
    """Count a try of a call without effect: where no person was asked, its outcome alone tells of it."""
    if row["effect_class"] == EffectClass.NONE:
        row["attempts"] = max(row["attempts"], data["attempt"])


def _observed(calls: Calls, fact: Fact) -> None:
    row = calls[fact.data["name"]]
    row["look_ups"] += 1
    match fact.data.get("move"):
        case "adopt":
            _state(row, CallState.OK)
            row |= {"reference": fact.data.get("reference") or "", "answer_seq": fact.seq, "look_ups": 0}
        case "refuse":
            _settle(row, CallState.REFUSED, fact.seq)
        # A read-back or a poll that could not tell leaves the answer as it is.
        case "wait" if row["state"] not in {CallState.OK, CallState.STARTED}:
            _state(row, CallState.UNKNOWN)
        case "send" | "park":
            _state(row, CallState.UNKNOWN)
            row |= {"look_ups": 0, "maybe_applied": False}


def _resume_decided(calls: Calls, fact: Fact) -> None:
    if fact.data.get("look_first"):  # a resend was refused: look, never send
        row = calls[fact.data["name"]]
        _state(row, CallState.UNKNOWN)
        row |= {"look_first": True, "maybe_applied": True}


def _verified(calls: Calls, fact: Fact) -> None:
    row = calls[fact.data["name"]]
    _state(row, CallState.VERIFIED)
    row |= {"settled_seq": fact.seq, "maybe_applied": False}
    row["reference"] = fact.data.get("reference") or row["reference"]


def _late_receipt(calls: Calls, fact: Fact) -> None:
    row = calls[fact.data["name"]]
    if not fact.data["closes_doubt"]:
        return
    settles = bool(fact.data.get("settles"))
    refused = fact.data["outcome"] == "refused"
    _state(row, CallState.REFUSED if refused else CallState.ANSWERED if settles else CallState.OK)
    row |= {"answer_seq": fact.seq, "look_ups": 0, "reference": fact.data.get("reference") or row["reference"]}
    if settles:
        row["settled_seq"] = fact.seq


def _in_doubt(calls: Calls, fact: Fact) -> None:
    row = calls[fact.data["name"]]
    _state(row, CallState.IN_DOUBT)
    row["maybe_applied"] = True


def _settled(calls: Calls, fact: Fact) -> None:
    row = calls[fact.data["name"]]
    _settle(row, SETTLED_BY_PERSON[fact.data["answer"]], fact.seq)
    row["reference"] = fact.data.get("reference") or row["reference"]


def _withdrawn(calls: Calls, fact: Fact) -> None:
    row = calls[fact.data["name"]]
    _settle(row, CallState.WITHDRAWN, fact.seq)
    row["replaced_by"] = fact.data.get("replaced_by") or row["replaced_by"]


def _repeat_allowed(calls: Calls, fact: Fact) -> None:
    calls[fact.data["name"]]["holds_business_key"] = False


def _asked(calls: Calls, fact: Fact) -> None:
    _state(calls[fact.data["name"]], CallState.ASKED)


def _decided(calls: Calls, fact: Fact) -> None:
    row = calls[fact.data["name"]]
    if fact.data["decision"] == "approved":
        _state(row, CallState.APPROVED)
    else:
        _settle(row, CallState.DENIED, fact.seq)


def _ends_as(state: CallState) -> Callable[[Calls, Fact], None]:
    def end(calls: Calls, fact: Fact) -> None:
        row = calls[fact.data["name"]]
        if row["state"] in {CallState.ASKED, CallState.APPROVED}:  # otherwise it was withdrawn by the same append
            _settle(row, state, fact.seq)

    return end


CALLS: dict[str, Callable[[Calls, Fact], None]] = {
    "call.intended": _intended,
    "call.attempted": _attempted,
    "call.outcome": _outcome,
    "call.observed": _observed,
    "call.resume_decided": _resume_decided,
    "call.verified": _verified,
    "call.late_receipt": _late_receipt,
    "call.in_doubt": _in_doubt,
    "call.settled": _settled,
    "call.withdrawn": _withdrawn,
    "call.repeat_allowed": _repeat_allowed,
    "approval.requested": _asked,
    "approval.decided": _decided,
    "approval.expired": _ends_as(CallState.EXPIRED),
    "approval.lapsed": _ends_as(CallState.LAPSED),
    "approval.voided": _ends_as(CallState.VOIDED),
    "approval.revoked": _ends_as(CallState.VOIDED),
}
