"""The ASGI application: pages and API over HTTP, live pages over WebSocket."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "core.settings")
os.environ.setdefault("HANDRAIL_DATABASE_POOL", "20")  # connections of this process at most

from channels.routing import ProtocolTypeRouter
from django.core.asgi import get_asgi_application

django_application = get_asgi_application()

from tasks_app.live.origin import OwnOriginOnly  # noqa: E402 - models can be imported only now
from tasks_app.registry import modules_load  # noqa: E402
from tasks_app.routing import sockets  # noqa: E402

modules_load()  # the API validates intents by the agents' own schemas
application = ProtocolTypeRouter({"http": django_application, "websocket": OwnOriginOnly(sockets)})
