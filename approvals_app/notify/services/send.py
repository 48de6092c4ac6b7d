"""Sends one delivery: claim it, send it, note what came of it. At least once, under one id.

Whoever dies between sending and noting leaves a claim that runs out: then it is sent again, under the same id.
"""

from datetime import timedelta
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Case, CharField, F, Q, QuerySet, Value, When, Window
from django.db.models.functions import Cast, RowNumber

from approvals_app.models import ApprovalRequest
from approvals_app.notify.kinds import ChannelKind, DeliveryState, Kind
from approvals_app.notify.models import Alert, Delivery
from approvals_app.notify.senders import NotTaken, sender_of
from approvals_app.status import ApprovalStatus
from core.clock import ClockTimestamp, database_now

log = structlog.get_logger(__name__)

CLAIM = timedelta(seconds=60)  # longer than any sender waits
MOST_LOGGED = 20
MAIL = "mail"


def deliveries_due(*, most: int) -> list[UUID]:
    """Return the deliveries that may be tried now, the longest due first."""
    return list(_due().order_by("due_at").values_list("pk", flat=True)[:most])


def lanes_due(*, most: int) -> dict[str, list[UUID]]:
    """Return the deliveries that may be tried now by their lanes, so many of each; the longest due first.

    A lane is what hangs together: one channel, or all that mail, since they have one server.
    """
    mails = When(channel__kind__in=[ChannelKind.PEOPLE, ChannelKind.EMAIL], then=Value(MAIL))
    lane = Case(mails, default=Cast("channel_id", CharField()))
    place = Window(RowNumber(), partition_by=F("lane"), order_by=["due_at", "pk"])
    due = _due().annotate(lane=lane).annotate(place=place).filter(place__lte=most)
    found: dict[str, list[UUID]] = {}
    for name, pk in due.order_by("due_at", "pk").values_list("lane", "pk"):
        found.setdefault(name, []).append(pk)
    return found


def delivery_send(*, delivery: UUID) -> bool:
    """Try one delivery; returns whether this call tried it. Another process may have been first."""
    row = _claim(delivery)
    if row is None:
        return False
    why = _quiet(row)
    if why:
        _note(row, DeliveryState.QUIET, why)
        return True
    try:
        said = sender_of(row.channel)(row)
    except NotTaken as refusal:
        _refused(row, refusal)
    except Exception as error:  # a library's own mistake: tried again like any other, and never quoted (secrets)
        log.warning("delivery_failed", delivery=str(row.pk), error=type(error).__name__)
        _refused(row, NotTaken(f"failed: {type(error).__name__}"))
    else:
        _note(row, DeliveryState.SENT, said)
    return True


def _claim(delivery: UUID) -> Delivery | None:
    """Return the delivery with the number of our try; None where another process was first."""
    with transaction.atomic():  # the row is ours until it is read: its number is that of nobody who followed
        # Compare and set: of many that try the same one, one changes the row.
        if not _due().filter(pk=delivery).update(claimed_until=ClockTimestamp() + CLAIM, tries=F("tries") + 1):
            return None
        return Delivery.objects.select_related("channel").get(pk=delivery)


def _due() -> QuerySet[Delivery]:
    free = Q(claimed_until=None) | Q(claimed_until__lte=ClockTimestamp())
    return Delivery.objects.filter(free, state=DeliveryState.WAITING, due_at__lte=ClockTimestamp())


def _quiet(row: Delivery) -> str:
    """Say why there is nothing left to say, or an empty text."""
    if not row.channel.enabled and row.kind != Kind.TEST:
        return "the channel is switched off"
    if row.kind in {Kind.REQUESTED, Kind.ESCALATED}:
        waits = ApprovalRequest.objects.filter(pk=row.subject, status=ApprovalStatus.REQUESTED)
        return "" if waits.exists() else "nothing is left to decide"
    if row.kind == Kind.RAISED:
        over = "over before it was told" if row.tries == 1 else "over meanwhile: its end is told"
        return "" if Alert.objects.filter(pk=row.subject, cleared_at=None).exists() else over
    return ""


def _refused(row: Delivery, refusal: NotTaken) -> None:
    table = settings.HANDRAIL_NOTIFY_RETRY
    tries = max(row.tries - row.tries_before, 1)
    if refusal.final or tries > len(table):
        _note(row, DeliveryState.DEAD, str(refusal))
        return
    _note(row, DeliveryState.WAITING, str(refusal), again=timedelta(seconds=table[tries - 1]))


def _note(row: Delivery, state: DeliveryState, said: str, *, again: timedelta | None = None) -> None:
    now = database_now()
    line = {"at": now.isoformat(), "try": row.tries, "said": said[:300]}
    # Whoever had it before us and was late must not write over what followed: the number of the try is the fence, and
    # never goes down. While it is ours nobody else writes the log.
    Delivery.objects.filter(pk=row.pk, tries=row.tries, state=DeliveryState.WAITING).update(
        state=state,
        claimed_until=None,
        due_at=now + again if again is not None else F("due_at"),
        ended_at=None if state == DeliveryState.WAITING else now,
        log=[*row.log, line][-MOST_LOGGED:],
    )
    log.info("delivery", action=f"delivery.{state}", delivery=str(row.pk), tries=row.tries)
