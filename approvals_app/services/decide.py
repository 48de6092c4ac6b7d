"""One decision: approve or deny, by people, on one digest, once (A02, A03, S4)."""

from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from approvals_app.deciders import decider_check
from approvals_app.models import ApprovalRequest
from approvals_app.moments import deciding_now
from approvals_app.services.answer import Post, answer_record
from approvals_app.services.demands import demands_check
from approvals_app.services.locks import rows_lock
from approvals_app.services.overdue import deadline_pass
from approvals_app.services.woken import task_wake
from approvals_app.status import Answer, ApprovalStatus, Via
from approvals_app.words import taken_sentence
from core.boundaries import Boundary, Position, cross
from core.errors import Conflict, InvalidInput
from core.principal import Principal
from tasks_app.status import TERMINAL

MOST_REASON = 2000  # characters
OF_THE_TASK = ("workspace", "owner__username", "agent_version", "parent", "status")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a post: the row as it is now, and whether this post changed it.

    ``decided``: False where this answer counts and others are still needed.
    """

    request: ApprovalRequest
    new: bool
    refusal: Conflict | None = None
    seq: int | None = None
    decided: bool = True


def approval_decide(
    *,
    approval: UUID,
    principal: Principal,
    decision: Answer,
    reason: str,
    digest: str,
    via: Via,
    beside: int | None = 0,
) -> Outcome:
    """Approve or deny a call, in one transaction; wake its task after the commit.

    ``digest`` is the call digest of what the person has read; ``beside``: see Post. The same answer from the same
    person again is the same answer (``new`` is False). Where several people must approve, the last one decides; one
    denial is enough.
    Raises NotFound (unknown, or another workspace's), Forbidden (no right, not in the group, a party to the task, an
    agent's token), StepUpRequired, Conflict (decided, expired, withdrawn, or not the call that was shown), ReviewFirst,
    TooLargeToReview, ReasonRequired, InvalidInput. Source: rules 1, 3, 4, 6, 11 and 12, A02, case-12 to case-16.
    """
    if len(reason) > MOST_REASON:
        raise InvalidInput(f"A reason has at most {MOST_REASON} characters; nothing was changed.")
    with transaction.atomic(durable=True):
        task, request = rows_lock(approval, columns=OF_THE_TASK)
        moment = deciding_now(request=request, user=principal.user)
        post = Post(
            task=task,
            request=request,
            moment=moment,
            principal=principal,
            decision=decision,
            reason=reason,
            via=via,
            beside=beside,
        )
        outcome = _decide(post, digest)
    if outcome.seq is not None:
        if outcome.new:
            cross(Boundary.APPROVAL_DECIDED, Position.AFTER, task=task.pk, call=request.name)
        task_wake(task=task, call=request.name, seq=outcome.seq)
    if outcome.refusal:
        raise outcome.refusal
    return outcome


def _decide(post: Post, digest: str) -> Outcome:
    request = post.request
    decider_check(request=request, task=post.task, principal=post.principal, roles=post.moment.roles)
    if _same_answer(post):
        return Outcome(request=request, new=False, decided=request.status != ApprovalStatus.REQUESTED)
    if request.status != ApprovalStatus.REQUESTED:
        raise _taken(request)
    if post.task.status in TERMINAL:
        raise Conflict("The task has ended; nothing was changed.", state=request.status)
    over = _over(post)
    if over:
        return over
    if digest != request.digest:
        raise Conflict(
            "What was sent is not the call that is asked for: read the card again, then decide. Nothing was changed.",
            state=request.status,
            digest=request.digest,
        )
    demands_check(post)
    seq, decided = answer_record(post)
    if seq is None:
        raise _taken(request)
    return Outcome(request=request, new=True, seq=seq, decided=decided)


def _same_answer(post: Post) -> bool:
    """Whether it is what this person has said before, and it still stands or was used (case-13)."""
    if post.request.status == ApprovalStatus.REQUESTED and post.request.quorum == 1:
        return False  # one answer would have decided it
    stands = {ApprovalStatus.REQUESTED, ApprovalStatus.APPROVED, ApprovalStatus.DENIED, ApprovalStatus.CONSUMED}
    mine = post.request.answers.filter(user=post.principal.user).values_list("answer", flat=True).first()
    return post.request.status in stands and mine == post.decision


def _taken(request: ApprovalRequest) -> Conflict:
    return Conflict(
        taken_sentence(request),
        state=request.status,
        decision=request.decision or None,
        decided_by=request.decided_by.get_username() if request.decided_by else None,
        decided_at=request.decided_at.isoformat() if request.decided_at else None,
    )


def _over(post: Post) -> Outcome | None:
    """End or pass on a request whose time is over, whether or not the sweeper has come by (case-14 b, case-11)."""
    request = post.request
    passed = deadline_pass(task=post.task, request=request, now=post.now, actor="system")
    if passed is None or passed.waits_on:
        return None  # in time, or kept waiting: it may still be decided
    if request.status != ApprovalStatus.REQUESTED:
        return Outcome(request=request, new=False, refusal=_taken(request), seq=passed.seq)
    said = f"The time to decide had passed, so {request.group!r} is asked now. Nothing was decided."
    return Outcome(request=request, new=False, refusal=Conflict(said, state=request.status), seq=passed.seq)
