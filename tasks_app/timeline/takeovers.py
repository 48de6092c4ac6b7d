"""The sentence of cause of each worker change in a stretch of a record, from the events around it."""

from collections.abc import Iterator, Sequence
from uuid import UUID

from tasks_app.models import Event
from tasks_app.timeline.cause import CAUSE_KINDS, takeover_cause
from tasks_app.timeline.parts import Line

MOST = 20  # worker changes of one window whose cause is told, the last ones
AFTER = 60  # events after a claim that are looked at
BEFORE = 1000  # events before a loss in which its last checkpoint is looked for; of a longer step no cause is told


def causes_told(stream: UUID, *, lost: int | None, events: Sequence[Event]) -> dict[int, Line]:
    """Return the cause of each worker change among these events, by the sequence of the claim.

    ``lost``: the loss before the first of them that no claim has followed yet.
    """
    changes = list(_changes(lost, events))[-MOST:]
    causes = ((claim, _cause(stream, loss, claim)) for loss, claim in changes)
    return {claim: cause for claim, cause in causes if cause is not None}


def _changes(lost: int | None, events: Sequence[Event]) -> Iterator[tuple[int, int]]:
    for event in events:
        if event.kind == "slice.lost":
            lost = event.seq
        elif event.kind == "slice.claimed" and lost is not None:
            yield lost, event.seq
            lost = None


def _cause(stream: UUID, loss: int, claim: int) -> Line | None:
    """Look at what was open: everything since the last checkpoint before the loss; None where that is too far back."""
    mine, lowest = Event.objects.filter(stream=stream), loss - BEFORE
    checkpoints = mine.filter(kind="checkpoint.advanced", seq__lt=loss, seq__gte=lowest).order_by("-seq")
    settled = checkpoints.values_list("seq", flat=True).first()
    if settled is None and lowest > 0:
        return None
    settled = settled or 0
    around = mine.filter(seq__gte=settled, seq__lt=claim + AFTER, kind__in=CAUSE_KINDS).order_by("seq")
    facts = list(around)
    return takeover_cause([f for f in facts if f.seq <= loss], [f for f in facts if f.seq >= claim])
