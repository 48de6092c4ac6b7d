"""The tables of tasks_app; one noun a module."""

from tasks_app.models.call import Call, CallState
from tasks_app.models.credential import Credential, CredentialGrant
from tasks_app.models.event import Blob, Event, LateWrite
from tasks_app.models.requests import RequestKey
from tasks_app.models.saved_view import SavedView
from tasks_app.models.stops import StopSwitch
from tasks_app.models.task import Status, Task, WaitKind
from tasks_app.models.worker import ClusterIdentity, Worker

__all__ = [
    "Blob",
    "Call",
    "CallState",
    "ClusterIdentity",
    "Credential",
    "CredentialGrant",
    "Event",
    "LateWrite",
    "RequestKey",
    "SavedView",
    "Status",
    "StopSwitch",
    "Task",
    "WaitKind",
    "Worker",
]
