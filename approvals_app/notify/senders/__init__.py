"""Ways out. A sender returns what the receiver said, in words, or raises NotTaken; it quotes no secret."""

from collections.abc import Callable

from approvals_app.notify.kinds import ChannelKind
from approvals_app.notify.models import Channel, Delivery
from approvals_app.notify.senders.chat import chat_send
from approvals_app.notify.senders.mail import mail_send
from approvals_app.notify.senders.refusal import NotTaken
from approvals_app.notify.senders.webhook import webhook_send

__all__ = ["NotTaken", "sender_of"]

Sender = Callable[[Delivery], str]
_SENDERS: dict[str, Sender] = {
    ChannelKind.PEOPLE: mail_send,
    ChannelKind.EMAIL: mail_send,
    ChannelKind.WEBHOOK: webhook_send,
    ChannelKind.APPRISE: chat_send,
}


def sender_of(channel: Channel) -> Sender:
    """Return what sends by this channel."""
    return _SENDERS[channel.kind]
