"""The addresses of live pages' sockets."""

from typing import Any

from django.urls import path

from tasks_app import call_names as call_names  # what <call_name:> is in an address
from tasks_app.consumers import DoubtConsumer, FrameConsumer, TaskConsumer, TaskListConsumer

# Django's path() is typed for views of requests; the router takes ASGI applications.
_LIST: Any = TaskListConsumer.as_asgi()
_TASK: Any = TaskConsumer.as_asgi()
_DOUBT: Any = DoubtConsumer.as_asgi()
_FRAME: Any = FrameConsumer.as_asgi()
addresses: list[Any] = [
    path("ws/frame/", _FRAME),
    path("ws/tasks/", _LIST),
    path("ws/tasks/<uuid:task>/", _TASK),
    path("ws/tasks/<uuid:task>/calls/<call_name:name>/live/", _DOUBT),
]
