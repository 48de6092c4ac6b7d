"""Sends a delivery once more because a person says so: the same message, under the same id."""

from uuid import UUID

from django.db import transaction

from approvals_app.notify.kinds import DeliveryState
from approvals_app.notify.models import Delivery
from core.access import Right
from core.clock import database_now
from core.errors import Conflict, NotFound
from core.principal import Principal

__all__ = ["CannotReplay", "delivery_replay"]


class CannotReplay(Conflict):
    """This delivery waits or stays quiet; nothing was changed."""

    code = "cannot-replay"


def delivery_replay(*, delivery: UUID, principal: Principal) -> Delivery:
    """Send what was given up, or sent, once more. Raises NotFound, Forbidden, CannotReplay."""
    principal.require(Right.TASKS_OPERATE)
    with transaction.atomic():
        # Locked: of two people at once the other reads that it waits already, and no line of the log is lost.
        row = Delivery.objects.select_for_update().filter(workspace=principal.workspace, pk=delivery).first()
        if row is None:
            raise NotFound
        if row.state not in {DeliveryState.DEAD, DeliveryState.SENT}:
            raise CannotReplay(f"This delivery is {row.state}: there is nothing to send again. Nothing was changed.")
        now = database_now()
        row.state, row.due_at, row.claimed_until, row.ended_at = DeliveryState.WAITING, now, None, None
        # The pauses begin anew; the number of the try does not, since somebody may still be at an earlier one.
        row.tries_before, row.replayed_by = row.tries, principal.user
        row.log.append({"at": now.isoformat(), "said": f"sent again by {principal.user.get_username()}"})
        row.save()
    return row
