"""What stands beside a call on its card: the agent's last steps, the last similar call, the request that came after."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.models import User

from approvals_app.deciders import counted
from approvals_app.differences import Difference, differences
from approvals_app.models import ApprovalAnswer, ApprovalRequest
from approvals_app.review import Review
from approvals_app.selectors.card import Card
from approvals_app.selectors.record import event_whole, intended_of
from approvals_app.services.demands import CARD_BYTES, MOST_REVIEWED
from tasks_app.models import Call, Event, Task
from tasks_app.status import CallState
from tasks_app.timeline.story import Row
from tasks_app.timeline.window import merged, story_before

STEPS_SHOWN = 8
COMPARED = 300_000  # characters of arguments that are compared at most
_DONE = (CallState.VERIFIED, CallState.ANSWERED, CallState.HAPPENED)
# What a person wants to know before answering; the rest is on the task's page.
_TOLD = (
    "task.created",
    "step.decided",
    "call.attempted",
    "call.outcome",
    "call.verified",
    "call.settled",
    "call.withdrawn",
    "call.in_doubt",
    "approval.requested",
    "approval.decided",
    "approval.expired",
    "slice.lost",
    "signal.received",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Similar:
    """The last call of the same tool that took effect, and how this one differs from it."""

    call: Call
    seq: int
    approval: UUID | None
    differences: Sequence[Difference]

    @property
    def changed(self) -> int:
        """How many arguments differ."""
        return sum(one.kind != "same" for one in self.differences)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quorum:
    """How many must approve, how many count so far, who answered what; ``mine``: this person's answer."""

    needed: int
    so_far: int
    answers: Sequence[ApprovalAnswer]
    mine: ApprovalAnswer | None

    @property
    def missing(self) -> int:
        """How many approvals are still needed."""
        return max(0, self.needed - self.so_far)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What the agent proposed before a person edited it."""

    request: ApprovalRequest
    differences: Sequence[Difference]


def last_steps(*, task: Task, until: int | None = None) -> list[Row]:
    """Return the rows of the last things that the agent did."""
    found = Event.objects.filter(stream=task.pk, kind__in=_TOLD)
    found = found.filter(seq__lte=until) if until else found
    events = list(found.order_by("-seq")[:STEPS_SHOWN])[::-1]
    if not events:
        return []
    rows = merged(story_before(task=task, seq=events[0].seq), events, [])
    return [row for row in rows if row.css != "idle"]


def similar_call(card: Card) -> Similar | None:
    """Return the last call of this tool that took effect, on the same resource if it names one, and the differences."""
    here = card.call
    calls = Call.objects.filter(workspace=here.workspace_id, tool=here.tool, state__in=_DONE).exclude(pk=here.pk)
    found = calls.filter(resource=here.resource).order_by("-pk").first()  # another's differ in everything
    if found is None:
        return None
    before = event_whole(Event.objects.get(stream=found.task_id, seq=found.intended_seq))["arguments"]
    if len(str(before)) + len(str(card.arguments)) > COMPARED:
        return None
    approval = ApprovalRequest.objects.filter(task=found.task_id, name=found.name).order_by("-pk").first()
    return Similar(
        call=found,
        seq=found.intended_seq,
        approval=approval.pk if approval else None,
        differences=differences(before, card.arguments),
    )


def card_review(card: Card) -> Review:
    """Return how much of its arguments a card shows, and the parts in which the rest is read."""
    size = card.request.size or len(str(card.arguments))
    return Review.of(card.arguments, size=size, card=CARD_BYTES, most=MOST_REVIEWED)


def quorum_of(card: Card, *, user: User) -> Quorum:
    """Return how far the answers have come, and this person's own."""
    answers = list(card.request.answers.select_related("user").order_by("at"))
    so_far = len(counted(request=card.request, task=card.request.task)) if card.waits else 0
    mine = next((one for one in answers if one.user_id == user.pk), None)
    return Quorum(needed=card.request.quorum, so_far=so_far, answers=answers, mine=mine)


def proposal(card: Card) -> Proposal | None:
    """Return what the agent had proposed, where a person edited it, and how this call differs."""
    before = card.request.replaces
    if before is None:
        return None
    return Proposal(request=before, differences=differences(intended_of(before)["arguments"], card.arguments))


def successor(request: ApprovalRequest) -> ApprovalRequest | None:
    """Return the later request for the same effect, where this one has ended: the fresh card."""
    names = {request.name}
    replaced = Call.objects.filter(task=request.task_id, name=request.name).values_list("replaced_by", flat=True)
    names |= {name for name in replaced if name}
    later = ApprovalRequest.objects.filter(task=request.task_id, pk__gt=request.pk)
    same = later.filter(name__in=names) | later.filter(same_call=request.same_call)
    return same.order_by("pk").last()
