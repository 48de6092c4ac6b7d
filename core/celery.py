"""The Celery application: one queue, messages are hints (the receiver reads Postgres and decides)."""

import os

from celery import Celery, signals
from django.conf import settings

from core.respawn import Respawn

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "core.settings")


def _logs_stay(**_: object) -> None:
    """Keep Celery from setting up the log: it does where nobody listens for this signal."""


app = Celery("handrail")
app.set_default()  # for every thread; "current" alone holds only for the thread that imported this
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["tasks_app", "approvals_app"])
if settings.HANDRAIL_LOGS_JSON:  # our own set-up of the log stays (core/logs.py)
    signals.setup_logging.connect(_logs_stay, weak=False)
app.steps["worker"].add(Respawn)
# By its address: the step needs models, which exist once Celery has set Django up for a worker.
app.steps["worker"].add("tasks_app.keeper.bootstep:KeeperStep")

if os.environ.get("HANDRAIL_DRILL_SOCKET"):  # a process that a drill has spawned, and no other
    from chaos_app.injector.handler import injector_install

    injector_install()
