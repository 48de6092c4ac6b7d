"""The ASGI application: pages and API over HTTP, live pages over WebSocket."""

import os
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "core.settings")
os.environ.setdefault("HANDRAIL_DATABASE_POOL", "20")  # connections of this process at most

import django
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import WebsocketDenier
from django.urls import re_path

django.setup(set_prefix=False)

from approvals_app import routing as approvals  # noqa: E402 - models can be imported only now
from approvals_app.live.waiting import WaitingPart  # noqa: E402
from approvals_app.notify.live import AlertsPart  # noqa: E402
from approvals_app.notify.stand_in import stand_in_start  # noqa: E402
from core.board import routing as board  # noqa: E402
from core.handler import Handler  # noqa: E402
from core.metrics import metrics_begin  # noqa: E402
from core.tracing import tracing_begin  # noqa: E402
from tasks_app import routing as tasks  # noqa: E402
from tasks_app.live.frame import frame_part_register  # noqa: E402
from tasks_app.live.origin import OwnOriginOnly  # noqa: E402
from tasks_app.registry import modules_load  # noqa: E402

metrics_begin()
tracing_begin("web")
modules_load()  # the API validates intents by the agents' own schemas
frame_part_register(WaitingPart)
frame_part_register(AlertsPart)
stand_in_start()
_nowhere: Any = re_path(r"", WebsocketDenier.as_asgi())  # type: ignore[arg-type]  # ASGI, not a view
sockets = URLRouter([*tasks.addresses, *approvals.addresses, *board.addresses, _nowhere])
application = ProtocolTypeRouter({"http": Handler(), "websocket": OwnOriginOnly(sockets)})
