"""To chat and paging, through Apprise."""

from approvals_app.notify.kinds import Kind
from approvals_app.notify.messages import plain
from approvals_app.notify.models import Delivery
from approvals_app.notify.reach import NotReachable, service_of
from approvals_app.notify.senders.refusal import NotTaken

# What a person reads as pressing (Apprise's types of messages); the rest is said quietly.
PRESSING = {Kind.RAISED: "failure", Kind.CLEARED: "success"}


def chat_send(delivery: Delivery) -> str:
    """Hand it to the service. Apprise logs what went wrong; its texts may quote the address and are not kept."""
    try:
        service = service_of(delivery.channel.address)
    except NotReachable as refusal:
        raise NotTaken(str(refusal)) from None
    kind = PRESSING.get(Kind(delivery.kind), "info")
    taken = service.notify(
        title=delivery.body["data"]["title"], body=f"{plain(delivery.body)}\n{delivery.pk}", notify_type=kind
    )
    if not taken:
        raise NotTaken("the service did not take it")
    return "taken by the service"
