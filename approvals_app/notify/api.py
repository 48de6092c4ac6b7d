"""Alerts and deliveries over HTTP."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Router, Schema, Status

from approvals_app.notify.kinds import DeliveryState
from approvals_app.notify.models import Alert, Channel, Delivery
from approvals_app.notify.selectors.alerts import MOST, alerts_in
from approvals_app.notify.selectors.deliveries import channels_of, deliveries
from approvals_app.notify.services.channels import channel_try
from approvals_app.notify.services.replay import delivery_replay
from core.access import Right
from core.errors import NotFound
from core.principal import caller

alerts_router, deliveries_router, channels_router = Router(), Router(), Router()


class AlertOut(Schema):
    """One alert; ``workspace`` is none where the whole installation is concerned."""

    id: UUID
    rule: str
    title: str
    todo: str
    address: str
    workspace: str | None
    raised_at: datetime
    cleared_at: datetime | None

    @staticmethod
    def resolve_workspace(alert: Alert) -> str | None:
        """Name the workspace by its slug."""
        return alert.workspace.slug if alert.workspace else None


class TryOut(Schema):
    """What came of one try, or what a person did."""

    at: datetime
    said: str


class DeliveryOut(Schema):
    """One message to one receiver. ``id`` is what the receiver sees, the same at every try."""

    id: UUID
    channel: UUID
    kind: str
    subject: UUID
    recipient: str
    state: DeliveryState
    tries: int
    made_at: datetime
    due_at: datetime
    ended_at: datetime | None
    log: list[TryOut]
    body: dict[str, Any]

    @staticmethod
    def resolve_channel(delivery: Delivery) -> UUID:
        """Name the channel by its id."""
        return delivery.channel_id


class DeliveriesOut(Schema):
    """One page. ``next``: pass it as ``before`` for what is older."""

    items: list[DeliveryOut]
    next: UUID | None


class ChannelOut(Schema):
    """A channel, without its address and its secret."""

    id: UUID
    name: str
    kind: str
    enabled: bool


@alerts_router.get("", response=list[AlertOut])
def alerts(request: HttpRequest, cleared: bool = False) -> Any:
    """List the alerts that stand, or those that are over, the newest first; at most 200."""
    who = caller(request, Right.TASKS_READ)
    found = alerts_in(workspaces=[who.workspace.pk]).filter(cleared_at__isnull=not cleared)
    return list(found.select_related("workspace").order_by("-raised_at")[:MOST])


@deliveries_router.get("", response=DeliveriesOut)
def listing(request: HttpRequest, state: DeliveryState | None = None, before: UUID | None = None) -> Any:
    """List deliveries, the newest first; ``state=dead`` lists what was given up."""
    who = caller(request, Right.TASKS_READ)
    page = deliveries(workspace=who.workspace, state=state, before=before)
    return {"items": page.rows, "next": page.older}


@deliveries_router.post("/{uuid:delivery}/replay", response={202: DeliveryOut})
def replay(request: HttpRequest, delivery: UUID) -> Any:
    """Send what was given up, or sent, once more, under the same id."""
    return Status(202, delivery_replay(delivery=delivery, principal=caller(request, Right.TASKS_OPERATE)))


@channels_router.get("", response=list[ChannelOut])
def channels(request: HttpRequest) -> Any:
    """List the channels of this workspace."""
    return channels_of(workspace=caller(request, Right.TASKS_READ).workspace)


@channels_router.post("/{uuid:channel}/test", response={202: None})
def test(request: HttpRequest, channel: UUID) -> Any:
    """Send a message that says that the channel works; what comes of it is a delivery."""
    who = caller(request, Right.ADMINISTER)
    found = Channel.objects.select_related("workspace").filter(workspace=who.workspace, pk=channel).first()
    if found is None:
        raise NotFound
    channel_try(channel=found, user=who.user)
    return Status(202, None)
