"""The addresses of the board's sockets."""

from typing import Any

from django.urls import path

from core.board.fleet_feed import FleetConsumer
from core.board.live import OverviewConsumer

_OVERVIEW: Any = OverviewConsumer.as_asgi()
_FLEET: Any = FleetConsumer.as_asgi()
addresses: list[Any] = [path("ws/overview/", _OVERVIEW), path("ws/workers/", _FLEET)]
