"""What an operator watches of approvals: how many wait, since when, and how many deadlines have passed."""

from collections.abc import Iterator

from django.db.models import Count, Min

from approvals_app.models import ApprovalRequest
from approvals_app.status import ApprovalStatus
from core.clock import database_now
from core.figures import Figure, number


def gauges() -> Iterator[Figure]:
    """Return the figures as they are now. Raises the database's errors."""
    now = database_now()
    waiting = ApprovalRequest.objects.filter(status=ApprovalStatus.REQUESTED)
    by_risk = waiting.order_by().values_list("risk").annotate(Count("pk"))
    values: dict[tuple[str, ...], float] = {(str(risk),): float(count) for risk, count in by_risk}
    yield Figure(name="handrail_approvals_waiting", help="Approvals by risk.", labels=("risk",), values=values)
    oldest = waiting.aggregate(first=Min("requested_at"))["first"]
    age = (now - oldest).total_seconds() if oldest else 0.0
    yield number("handrail_approvals_waiting_seconds", "How long the oldest of them waits.", max(age, 0.0))
    late = waiting.filter(decide_by__lt=now).count()
    yield number("handrail_approvals_overdue", "Waiting approvals whose deadline has passed.", late)
    unused = ApprovalRequest.objects.filter(status=ApprovalStatus.APPROVED).count()
    yield number("handrail_approvals_unused", "Approvals that were given and are not used yet.", unused)
