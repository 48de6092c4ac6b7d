"""Alerts with their rules, channels with their routes, and every delivery."""

from approvals_app.notify.models.alert import Alert, AlertRule, Pulse
from approvals_app.notify.models.channel import Channel, Route
from approvals_app.notify.models.delivery import Delivery

__all__ = ["Alert", "AlertRule", "Channel", "Delivery", "Pulse", "Route"]
