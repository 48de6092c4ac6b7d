"""Channels and routes of tests."""

from datetime import timedelta
from typing import Any

from approvals_app.notify.models import AlertRule, Channel, Delivery, Route
from approvals_app.notify.rules import NO_SWEEPER, NO_WORKER
from approvals_app.notify.services.channels import channel_save, route_save
from approvals_app.notify.services.plan import deliveries_plan, follow_ups_plan
from approvals_app.notify.services.send import deliveries_due, delivery_send
from core.clock import ClockTimestamp
from core.models import Workspace


def channel(workspace: Workspace, kind: str, address: str = "", *, name: str = "") -> Channel:
    made = Channel(workspace=workspace, name=name or kind, kind=kind, address=address)
    channel_save(channel=made, actor="person:ada")
    return made


def route(to: Channel, about: str = "approvals", **more: Any) -> Route:
    made = Route(workspace=to.workspace, channel=to, about=about, **more)
    route_save(route=made, actor="person:ada")
    return made


def due_now() -> None:
    """Let the pause before the next try be over."""
    Delivery.objects.update(due_at=ClockTimestamp() - timedelta(seconds=1))


def nobody_missed() -> None:
    """Let no worker and no sweeper be an alert: the test has none, and looks for others, which may take it a while."""
    for watch in (NO_WORKER, NO_SWEEPER):
        AlertRule.objects.create(name=watch.name, holds_for=watch.holds_for, enabled=False)


def told() -> list[Delivery]:
    """Plan and send all that is due now; return every delivery there is, the oldest first."""
    deliveries_plan()
    follow_ups_plan()
    for delivery in deliveries_due(most=1000):
        delivery_send(delivery=delivery)
    return list(Delivery.objects.order_by("pk"))
