"""The states of an approval. Pure: no Django."""

from enum import StrEnum


class ApprovalStatus(StrEnum):
    """Where an approval is. The comment names what may follow."""

    REQUESTED = "requested"  # -> approved, denied, expired, voided
    APPROVED = "approved"  # -> consumed, lapsed, revoked, voided
    DENIED = "denied"  # final
    EXPIRED = "expired"  # final: nobody decided in time
    LAPSED = "lapsed"  # final: approved, not used before its must-run-by
    VOIDED = "voided"  # final: task cancelled, tool changed, call edited, a decider lost the right
    REVOKED = "revoked"  # final: a person took an unused approval back
    CONSUMED = "consumed"  # final: used, once, with the first attempt


LIVE = frozenset({ApprovalStatus.REQUESTED, ApprovalStatus.APPROVED})


class Answer(StrEnum):
    """What a person may answer."""

    APPROVED = "approved"
    DENIED = "denied"


class Via(StrEnum):
    """Where a decision was made; kept with it."""

    PAGE = "page"
    API = "api"
    COMMAND = "command"
    GRANT = "grant"  # a standing grant answered, in its owner's name


class Outcome(StrEnum):
    """What a rule says of a call; ordered from the least to the most that it demands."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class ReasonRule(StrEnum):
    """When whoever decides must say why."""

    NONE = "none"
    DENIAL = "denial"
    ALWAYS = "always"


class OnExpiry(StrEnum):
    """What becomes of a request that nobody decides in time; never allowed."""

    DENY = "deny"  # it expires, the call does not run
    ESCALATE = "escalate"  # another group is asked, once; after that it expires
    WAIT = "wait"  # it keeps waiting, shown as overdue


EVERYONE = "approvers"  # the group of all who have the right to decide
