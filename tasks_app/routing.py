"""The addresses of live pages' sockets."""

from typing import Any

from channels.routing import URLRouter
from channels.security.websocket import WebsocketDenier
from django.urls import path, re_path

from tasks_app.consumers import TaskConsumer, TaskListConsumer

# Django's path() is typed for views of requests; the router takes ASGI applications.
_LIST: Any = TaskListConsumer.as_asgi()
_TASK: Any = TaskConsumer.as_asgi()
_NOWHERE: Any = WebsocketDenier.as_asgi()
_addresses: list[Any] = [
    path("ws/tasks/", _LIST),
    path("ws/tasks/<uuid:task>/", _TASK),
    re_path(r"", _NOWHERE),
]
sockets = URLRouter(_addresses)
