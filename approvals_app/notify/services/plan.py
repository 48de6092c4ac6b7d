"""Makes a delivery of everything that a route carries and nobody has been told: from rows, so that nothing is lost.

What waits is found again at each look until its delivery is there; the delivery is there once (``delivery_once``),
whoever makes it. What was settled before a channel's turn has no delivery: it stays quiet.
"""

from datetime import datetime, timedelta

import structlog
from django.db import InterfaceError, OperationalError
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce

from approvals_app.models import ApprovalRequest
from approvals_app.notify.kinds import About, ChannelKind, DeliveryState, Kind
from approvals_app.notify.messages import Body, alert_body, approval_body
from approvals_app.notify.models import Alert, Delivery, Route
from approvals_app.notify.models.channel import RISKS
from approvals_app.notify.models.delivery import PERHAPS_TOLD
from approvals_app.notify.recipients import alert_recipients, approval_recipients
from approvals_app.status import ApprovalStatus
from core.clock import ClockTimestamp, database_now

log = structlog.get_logger(__name__)
BATCH = 100
# One runaway must not bury a chat room: of what is alike, a channel says so many within an hour.
FLOOD, FLOOD_SPAN = 10, timedelta(hours=1)
HELD_BACK = f"held back: {FLOOD} messages like this within the hour"
NOBODY = "nobody to tell: whoever is asked has no e-mail address"


def deliveries_plan() -> int:
    """Make the deliveries that are due by the routes; returns how many."""
    routes = Route.objects.filter(enabled=True, channel__enabled=True).select_related("channel", "channel__workspace")
    return sum(_planned(one) for one in routes.order_by("after"))


def _planned(route: Route) -> int:
    try:
        return _approvals(route) if route.about == About.APPROVALS else _alerts(route)
    except (OperationalError, InterfaceError):  # the database's own: no route fares better
        raise
    except Exception:  # one route that cannot be followed keeps no other from being
        log.exception("route_not_planned", route=str(route.pk), channel=str(route.channel_id))
        return 0


def _approvals(route: Route) -> int:
    narrow = {name: value for name, value in (("group", route.group), ("tool", route.tool)) if value}
    waiting = ApprovalRequest.objects.filter(
        workspace=route.workspace_id,
        status=ApprovalStatus.REQUESTED,
        risk__in=RISKS[RISKS.index(route.lowest_risk) :],
        **narrow,
    ).annotate(since=Coalesce("escalated_at", "requested_at"))
    due = waiting.filter(since__lte=ClockTimestamp() - timedelta(seconds=route.after))
    made = 0
    for kind, first in ((Kind.REQUESTED, True), (Kind.ESCALATED, False)):
        for request in _untold(due.filter(escalated_at__isnull=first), route, kind).select_related("task", "workspace"):
            made += _make(
                route,
                kind,
                request,
                recipients=approval_recipients(route.channel, request),
                body=approval_body(request, kind),
                pile=f"{request.agent} {request.tool} {request.rule}",
            )
    return made


def _alerts(route: Route) -> int:
    standing = Alert.objects.filter(
        Q(workspace=route.workspace_id) | Q(workspace=None),
        cleared_at=None,
        raised_at__lte=ClockTimestamp() - timedelta(seconds=route.after),
        **({"rule": route.rule} if route.rule else {}),
    )
    return sum(
        _make(
            route,
            Kind.RAISED,
            alert,
            recipients=alert_recipients(route.channel, alert),
            body=alert_body(alert, Kind.RAISED),
            pile=f"alert {alert.rule}",
        )
        for alert in _untold(standing, route, Kind.RAISED).select_related("workspace")
    )


def _untold[Row: (ApprovalRequest, Alert)](rows: QuerySet[Row], route: Route, kind: Kind) -> QuerySet[Row]:
    told = Delivery.objects.filter(channel=route.channel_id, subject=OuterRef("pk"), kind=kind)
    return rows.filter(~Exists(told)).order_by("pk")[:BATCH]


def _make(
    route: Route, kind: Kind, subject: ApprovalRequest | Alert, *, recipients: list[str], body: Body, pile: str
) -> int:
    now = database_now()
    alike = Delivery.objects.filter(channel=route.channel_id, pile=pile, kind=kind, made_at__gt=now - FLOOD_SPAN)
    said = alike.exclude(state=DeliveryState.QUIET).values("subject").distinct().count()
    state, why = (DeliveryState.QUIET, HELD_BACK) if said >= FLOOD else (DeliveryState.WAITING, "")
    if not recipients:
        recipients, state, why = [""], DeliveryState.DEAD, NOBODY
    over = state != DeliveryState.WAITING
    rows = [
        Delivery(
            workspace_id=route.workspace_id,
            channel_id=route.channel_id,
            kind=kind,
            subject=subject.pk,
            recipient=recipient,
            pile=pile,
            body=body,
            state=state,
            made_at=now,
            due_at=now,
            ended_at=now if over else None,
            log=[{"at": now.isoformat(), "said": why}] if over else [],
            follows=kind == Kind.RAISED or route.channel.kind == ChannelKind.WEBHOOK,
        )
        for recipient in recipients
    ]
    # Another process may have made them meanwhile: theirs stand.
    return len(Delivery.objects.bulk_create(rows, ignore_conflicts=True))


def follow_ups_plan() -> int:
    """Tell who may have been told that it is over (of alerts everybody, of approvals programs); returns how many."""
    alerts = Alert.objects.filter(pk=OuterRef("subject")).exclude(cleared_at=None)
    requests = ApprovalRequest.objects.filter(pk=OuterRef("subject")).exclude(status=ApprovalStatus.REQUESTED)
    told = Delivery.objects.filter(Exists(alerts) | Exists(requests), PERHAPS_TOLD, follows=True)
    # Only what is over: many that still wait must not keep the others from being told.
    return sum(_follow_up(one) for one in told.order_by("pk")[:BATCH])


def _follow_up(told: Delivery) -> int:
    kind, body = _over(told)
    if body is None:
        return 0
    now: datetime = database_now()
    after = Delivery(
        workspace_id=told.workspace_id,
        channel_id=told.channel_id,
        kind=kind,
        subject=told.subject,
        recipient=told.recipient,
        pile=told.pile,
        body=body,
        made_at=now,
        due_at=now,
    )
    Delivery.objects.bulk_create([after], ignore_conflicts=True)
    return Delivery.objects.filter(pk=told.pk, follows=True).update(follows=False)


def _over(told: Delivery) -> tuple[Kind, Body | None]:
    if told.kind == Kind.RAISED:
        alert = Alert.objects.select_related("workspace").exclude(cleared_at=None).filter(pk=told.subject).first()
        return Kind.CLEARED, alert_body(alert, Kind.CLEARED) if alert else None
    requests = ApprovalRequest.objects.exclude(status=ApprovalStatus.REQUESTED).select_related("workspace")
    request = requests.filter(pk=told.subject).first()
    return Kind.SETTLED, approval_body(request, Kind.SETTLED) if request else None
