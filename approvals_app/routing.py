"""The addresses of the sockets of the approval pages."""

from typing import Any

from django.urls import path

from approvals_app.consumers import CardConsumer, DeskConsumer, StopsConsumer
from approvals_app.notify.consumers import AlertsConsumer

# Django's path() is typed for views of requests; the router takes ASGI applications.
_DESK: Any = DeskConsumer.as_asgi()
_CARD: Any = CardConsumer.as_asgi()
_STOPS: Any = StopsConsumer.as_asgi()
_ALERTS: Any = AlertsConsumer.as_asgi()
addresses: list[Any] = [
    path("ws/approvals/", _DESK),
    path("ws/approvals/<uuid:approval>/", _CARD),
    path("ws/stops/", _STOPS),
    path("ws/alerts/", _ALERTS),
]
