"""What stands beside a call on its card: the agent's last steps, the last similar call, the request that came after."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from approvals_app.differences import Difference, differences
from approvals_app.models import ApprovalRequest
from approvals_app.selectors.card import Card
from approvals_app.selectors.record import event_whole
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
    """Return the last call of this tool that took effect, on the same resource if there is one, and the differences."""
    here = card.call
    calls = Call.objects.filter(workspace=here.workspace_id, tool=here.tool, state__in=_DONE).exclude(pk=here.pk)
    on_it = calls.filter(resource=here.resource).order_by("-pk").first() if here.resource else None
    found = on_it or calls.order_by("-pk").first()
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


def successor(request: ApprovalRequest) -> ApprovalRequest | None:
    """Return the later request for the same effect, where this one has ended: the fresh card."""
    names = {request.name}
    replaced = Call.objects.filter(task=request.task_id, name=request.name).values_list("replaced_by", flat=True)
    names |= {name for name in replaced if name}
    later = ApprovalRequest.objects.filter(task=request.task_id, pk__gt=request.pk)
    same = later.filter(name__in=names) | later.filter(same_call=request.same_call)
    return same.order_by("pk").last()
