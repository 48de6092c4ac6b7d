"""The socket of the page of alerts."""

from functools import partial

from django.contrib.auth.models import User

from approvals_app.notify.live import AlertsFeed
from approvals_app.notify.services.alerts import GROUP
from approvals_app.rights import workspaces_of
from core.access import Right
from tasks_app.live.consumer import LiveConsumer
from tasks_app.live.feed import Feed
from tasks_app.live.reader import Listener, Withdrawn


def alerts_reader(listener: Listener) -> User:
    """Return the person at the other end, who may read in some workspace. Raises Withdrawn."""
    user = listener.user()
    if not workspaces_of(user=user, right=Right.TASKS_READ):
        raise Withdrawn
    return user


class AlertsConsumer(LiveConsumer):
    """Follows the alerts that the page shows."""

    def opened(self) -> tuple[Feed, list[str]]:
        """Follow the rows that the address names."""
        query = self.scope.get("query_string", b"").decode("latin1")
        alerts_reader(self.listener)
        return AlertsFeed.of(query, partial(alerts_reader, self.listener)), [GROUP]
