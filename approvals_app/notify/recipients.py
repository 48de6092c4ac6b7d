"""Who gets a message of a channel: one delivery each, so that one wrong address holds up nobody else."""

from collections.abc import Iterable

from django.contrib.auth.models import User

from approvals_app.deciders import decider_refusal
from approvals_app.models import ApprovalRequest
from approvals_app.notify.kinds import ChannelKind
from approvals_app.notify.models import Alert, Channel
from core.access import Right, Role, may
from core.models import Membership

__all__ = ["addresses_of", "alert_recipients", "approval_recipients"]
Recipients = list[str]  # [""]: the channel has one receiver, its address; []: there is nobody


def approval_recipients(channel: Channel, request: ApprovalRequest) -> Recipients:
    """Return who is told of an approval: of a channel to people, whoever may decide it."""
    if channel.kind != ChannelKind.PEOPLE:
        return _fixed(channel)
    people = _with(channel, Right.APPROVALS_DECIDE)
    return _mails(one for one in people if decider_refusal(request=request, task=request.task, user=one) is None)


def alert_recipients(channel: Channel, alert: Alert) -> Recipients:
    """Return who is told of an alert: of a channel to people, whoever may operate."""
    return _mails(_with(channel, Right.TASKS_OPERATE)) if channel.kind == ChannelKind.PEOPLE else _fixed(channel)


def trial_recipients(channel: Channel, user: User) -> Recipients:
    """Return who gets the message that tries a channel: of a channel to people, whoever tries it."""
    return _mails([user]) if channel.kind == ChannelKind.PEOPLE else _fixed(channel)


def addresses_of(channel: Channel) -> Recipients:
    """Return the addresses of a channel to fixed ones."""
    return list(dict.fromkeys(channel.address.replace(",", " ").split()))


def _fixed(channel: Channel) -> Recipients:
    return addresses_of(channel) if channel.kind == ChannelKind.EMAIL else [""]


def _with(channel: Channel, right: Right) -> list[User]:
    members = Membership.objects.filter(workspace=channel.workspace_id, user__is_active=True).select_related("user")
    return list({one.user_id: one.user for one in members if may(frozenset({Role(one.role)}), right)}.values())


def _mails(people: Iterable[User]) -> Recipients:
    return list(dict.fromkeys(one.email for one in people if one.email))
