"""What became of an approval, in sentences for people."""

from datetime import UTC, datetime

from approvals_app.models import ApprovalRequest
from approvals_app.status import ApprovalStatus


def taken_sentence(request: ApprovalRequest) -> str:
    """Say why a request can no longer be decided: who decided what and when, or what ended it."""
    decided = decided_sentence(request)
    match ApprovalStatus(request.status):
        case ApprovalStatus.REQUESTED:
            return "This approval still waits for a decision."
        case ApprovalStatus.APPROVED | ApprovalStatus.DENIED:
            return f"{decided} Nothing was changed."
        case ApprovalStatus.CONSUMED:
            return f"{decided} It has been used. Nothing was changed."
        case ApprovalStatus.EXPIRED:
            return f"Nobody decided by {_moment(request.decide_by)}: this approval has expired, the call will not run."
        case ApprovalStatus.LAPSED:
            return f"{decided} It was not used by {_moment(request.run_by)} and is too old now: ask again."
    word = "Revoked" if request.status == ApprovalStatus.REVOKED else "Withdrawn"
    return " ".join(part for part in (decided, f"{word}: {request.closed_reason}. The call will not run.") if part)


def decided_sentence(request: ApprovalRequest) -> str:
    """Say who decided what and when; empty where nobody did."""
    if request.decided_by is None:
        return ""
    return f"Already {request.decision} by {request.decided_by.get_username()} at {_moment(request.decided_at)}."


def _moment(moment: datetime | None) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC" if moment else "then"


_EFFECTS = {
    "none": "No effect outside.",
    "keyed": "Safe to resend: the outside system does it at most once, however often a crash makes us send it.",
    "readable": "Can be looked up: after a crash we look whether it happened before anything is sent again.",
    "opaque": "Cannot be checked: if a worker is lost while it runs, a person has to find out whether it happened.",
}
_OUTSIDE = (
    "Cannot be checked: the program that asks makes the call itself. If it is lost meanwhile, or never says what came"
    " of it, a person has to find out whether it happened."
)


def effect_sentence(effect_class: str, *, outside: bool = False) -> str:
    """Say in plain words what a tool promises about its effect. ``outside``: an agent outside executes it itself."""
    return _OUTSIDE if outside else _EFFECTS.get(effect_class, _EFFECTS["opaque"])
