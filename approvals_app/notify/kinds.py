"""The vocabulary of notifications. Pure: no Django."""

from enum import StrEnum


class ChannelKind(StrEnum):
    """How a channel reaches its receiver."""

    PEOPLE = "people"  # e-mail to whoever may decide; of an alert, to whoever may operate
    EMAIL = "email"  # e-mail to fixed addresses
    WEBHOOK = "webhook"  # a signed POST (Standard Webhooks)
    APPRISE = "apprise"  # chat and paging

    @property
    def label(self) -> str:
        """Return what the console calls it."""
        return _CHANNELS[self]


_CHANNELS = {
    ChannelKind.PEOPLE: "E-mail to the people who are asked",
    ChannelKind.EMAIL: "E-mail to fixed addresses",
    ChannelKind.WEBHOOK: "Signed webhook",
    ChannelKind.APPRISE: "Chat or paging (Apprise)",
}


class About(StrEnum):
    """What a route carries."""

    APPROVALS = "approvals"
    ALERTS = "alerts"

    @property
    def label(self) -> str:
        """Return what the console calls it."""
        return {"approvals": "Approvals that wait", "alerts": "Alerts"}[self.value]


class Kind(StrEnum):
    """What a message says."""

    REQUESTED = "approval.requested"
    ESCALATED = "approval.escalated"  # another group is asked
    SETTLED = "approval.settled"  # to programs only: nothing is left to decide
    RAISED = "alert.raised"
    CLEARED = "alert.cleared"
    TEST = "test"


class DeliveryState(StrEnum):
    """Where a delivery is. The comment names what may follow."""

    WAITING = "waiting"  # for its time, or for its next try -> sent, quiet, dead
    SENT = "sent"  # the receiver took it -> waiting (sent again by a person)
    QUIET = "quiet"  # final: not sent, or not once more, since there is nothing left to say
    DEAD = "dead"  # given up; listed until a person sends it again -> waiting
