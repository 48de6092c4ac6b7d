"""The order of what waits, and a place in it: soonest deadline first, those without one last, then by id."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.db.models import F, Q, QuerySet

from approvals_app.models import ApprovalRequest

FORTH = (F("decide_by").asc(nulls_last=True), F("pk").asc())
BACK = (F("decide_by").desc(nulls_first=True), F("pk").desc())
_NONE = "none"
_SINCE = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row stood when it was read: its deadline may move while somebody reads on, and the row may go."""

    pk: UUID
    decide_by: datetime | None

    @classmethod
    def of(cls, row: ApprovalRequest) -> "Place":
        """Return where this row stands."""
        return cls(row.pk, row.decide_by)

    @classmethod
    def read(cls, text: str) -> "Place":
        """Return the place that a text of ours names. Raises ValueError."""
        key, _, deadline = text.partition(".")
        try:
            at = None if deadline == _NONE else _SINCE + timedelta(microseconds=int(deadline))
        except OverflowError as error:
            raise ValueError(f"no moment: {deadline}") from error
        return cls(UUID(key), at)

    def __str__(self) -> str:
        """Return it as a text for addresses; only ``read`` knows what it means."""
        deadline = _NONE if self.decide_by is None else (self.decide_by - _SINCE) // timedelta(microseconds=1)
        return f"{self.pk}.{deadline}"


def place_named(text: str, *, workspaces: Sequence[UUID]) -> Place | None:
    """Return the place after which a list goes on. Raises ValueError for what is none.

    An id alone, which it was once, is where its row stands now; None, the beginning, where there is no such row here.
    """
    if "." in text:
        return Place.read(text)
    row = ApprovalRequest.objects.filter(pk=UUID(text), workspace__in=workspaces).first()
    return Place.of(row) if row else None


def behind(found: QuerySet[ApprovalRequest], place: Place) -> QuerySet[ApprovalRequest]:
    """Return what comes after a place."""
    if place.decide_by is None:
        return found.filter(decide_by=None, pk__gt=place.pk)
    later = Q(decide_by__gt=place.decide_by) | Q(decide_by=None)
    return found.filter(later | Q(decide_by=place.decide_by, pk__gt=place.pk))


def ahead(found: QuerySet[ApprovalRequest], place: Place) -> QuerySet[ApprovalRequest]:
    """Return what comes before a place."""
    if place.decide_by is None:
        return found.filter(Q(decide_by__isnull=False) | Q(pk__lt=place.pk))
    return found.filter(Q(decide_by__lt=place.decide_by) | Q(decide_by=place.decide_by, pk__lt=place.pk))
