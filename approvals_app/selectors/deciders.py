"""Who could decide a request: by right, by group, and by having no part in it (rule 6)."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from approvals_app.deciders import task_parties
from approvals_app.models import ApprovalRequest
from approvals_app.separation import EDITED
from approvals_app.status import EVERYONE
from core.access import Right, Role, may
from core.models import Membership
from core.moments import absolute

MOST_NAMED = 4
_DECIDES = [role for role in Role if may(frozenset({role}), Right.APPROVALS_DECIDE)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deciders:
    """People by name, how many of them are needed, and which group is asked."""

    names: Sequence[str]
    needed: int
    group: str

    @property
    def suffice(self) -> bool:
        """Whether they are enough."""
        return len(self.names) >= self.needed

    @property
    def named(self) -> str:
        """Return their names; of many, some and how many more."""
        shown, more = self.names[:MOST_NAMED], len(self.names) - MOST_NAMED
        rest = [f"{more} more"] if more > 0 else []
        *first, last = [*shown, *rest] or ["nobody"]
        return f"{', '.join(first)} or {last}" if first else last


def deciders_now(request: ApprovalRequest) -> Deciders:
    """Return who could answer a request that waits."""
    return _without(request, {str(party["user"]) for party in request.policy.get("never", [])})


def might_decide(request: ApprovalRequest) -> list[str]:
    """Return, in one question, what ``deciders_now`` and the count of approvals change with: who has the right and
    belongs to the group, and whose the task is.
    """
    return [request.task.owner.get_username(), *sorted(set(_members(request).values_list("user__username", flat=True)))]


def deciders_of_edit(request: ApprovalRequest, *, editor: str) -> Deciders:
    """Return who could answer in its place what ``editor`` makes of it, as far as the same rule asks for that.

    Whoever edited before may decide then: it is no longer their version.
    """
    never = {str(party["user"]) for party in request.policy.get("never", []) if party["why"] != EDITED}
    return _without(request, never | {editor})


def deciders_sentence(found: Deciders, request: ApprovalRequest) -> str:
    """Say who could decide, or what becomes of a request that nobody may."""
    if found.suffice:
        who = f"{found.needed} of {found.named}" if found.needed > 1 else found.named
        return f"It can be decided by {who}."
    if found.names:
        return (
            f"{found.needed} people must approve it, and only {found.named} may: it cannot be approved as things are."
        )
    until = f" until {absolute(request.decide_by)}" if request.decide_by else ""
    return (
        f"Nobody may decide it: of {request.group} there is only who started or owns the task, or edited the call."
        f" It waits{until} unless somebody else is given the right."
    )


def _without(request: ApprovalRequest, never: set[str]) -> Deciders:
    barred = never | {party["user"] for party in task_parties(request.task)}
    names = _members(request).exclude(user__username__in=barred).values_list("user__username", flat=True)
    return Deciders(names=sorted(set(names)), needed=request.quorum, group=request.group)


def _members(request: ApprovalRequest) -> QuerySet[Membership]:
    held = Membership.objects.filter(workspace=request.workspace_id, role__in=_DECIDES, user__is_active=True)
    if request.group == EVERYONE:
        return held
    group = {"approver_groups__workspace": request.workspace_id, "approver_groups__name": request.group}
    return held.filter(**{f"user__{name}": value for name, value in group.items()})
