"""Sends a delivery once more because a person says so: the same message, under the same id."""

from uuid import UUID

from approvals_app.notify.kinds import DeliveryState
from approvals_app.notify.models import Delivery
from core.access import Right
from core.clock import ClockTimestamp, database_now
from core.errors import Conflict, NotFound
from core.principal import Principal

__all__ = ["CannotReplay", "delivery_replay"]


class CannotReplay(Conflict):
    """This delivery waits or stays quiet; nothing was changed."""

    code = "cannot-replay"


def delivery_replay(*, delivery: UUID, principal: Principal) -> Delivery:
    """Send what was given up, or sent, once more. Raises NotFound, Forbidden, CannotReplay."""
    principal.require(Right.TASKS_OPERATE)
    row = Delivery.objects.filter(workspace=principal.workspace, pk=delivery).first()
    if row is None:
        raise NotFound
    line = {"at": database_now().isoformat(), "said": f"sent again by {principal.user.get_username()}"}
    # Two people at once: one of them changes the row, the other reads that it waits already.
    changed = Delivery.objects.filter(pk=row.pk, state__in=[DeliveryState.DEAD, DeliveryState.SENT]).update(
        state=DeliveryState.WAITING,
        due_at=ClockTimestamp(),
        claimed_until=None,
        ended_at=None,
        tries=0,
        replayed_by=principal.user,
        log=[*row.log, line],
    )
    row.refresh_from_db()
    if not changed:
        raise CannotReplay(f"This delivery is {row.state}: there is nothing to send again. Nothing was changed.")
    return row
