"""May this person decide this request? Asked by page, API, admin and command alike, under the locks (rule 6)."""

from uuid import UUID

from django.contrib.auth.models import User

from approvals_app.models import ApprovalRequest, ApproverGroup
from approvals_app.rights import credential_refusal, roles_of
from approvals_app.separation import barred, parties
from approvals_app.status import EVERYONE, Answer
from core.access import Right, Role, may
from core.errors import Forbidden, NotFound
from core.principal import Principal
from tasks_app.models import Event, Task


def decider_check(
    *, request: ApprovalRequest, task: Task, principal: Principal, roles: frozenset[Role] | None = None
) -> None:
    """Raise NotFound to outsiders, Forbidden to those who may look but not decide.

    Roles are read again here, or have just been (``roles``), under the locks: what the caller's session said when it
    began does not count.
    """
    roles = reader_check(request=request, principal=principal, roles=roles)
    refusal = credential_refusal(principal=principal, right=Right.APPROVALS_DECIDE) or decider_refusal(
        request=request, task=task, user=principal.user, roles=roles
    )
    if refusal:
        raise Forbidden(f"{refusal} Nothing was changed.")


def reader_check(
    *, request: ApprovalRequest, principal: Principal, roles: frozenset[Role] | None = None
) -> frozenset[Role]:
    """Return the caller's roles of now. Raises NotFound to those who may not see the request (case-25)."""
    if roles is None:
        roles = roles_of(user=principal.user, workspace=request.workspace_id)
    if principal.workspace.pk != request.workspace_id or not may(roles, Right.APPROVALS_READ):
        raise NotFound("There is no such approval here, or you may not see it.")
    return roles


def principal_refusal(*, request: ApprovalRequest, task: Task, principal: Principal) -> str | None:
    """Say why this caller may not decide, or None: the credential, the right, the separation of duties."""
    return credential_refusal(principal=principal, right=Right.APPROVALS_DECIDE) or decider_refusal(
        request=request, task=task, user=principal.user
    )


def decider_refusal(
    *, request: ApprovalRequest, task: Task, user: User, group: str = "", roles: frozenset[Role] | None = None
) -> str | None:
    """Say why a member may not decide, or None. Parties are those of the request and of now, whichever is wider.

    ``group``: another group than the request's, where policy asks another by now. ``roles``: where they were read.
    """
    held = roles_of(user=user, workspace=request.workspace_id) if roles is None else roles
    if not may(held, Right.APPROVALS_DECIDE):
        return f"Deciding needs the right approvals:decide in {task.workspace.name}."
    asked = group or request.group
    if not group_holds(workspace_id=request.workspace_id, group=asked, user=user.pk):
        return f"The group {asked!r} is asked, and you do not belong to it."
    return _barred(request, task, user.get_username())


def _barred(request: ApprovalRequest, task: Task, username: str) -> str | None:
    kept = request.policy.get("never")
    # Who started a task never changes: whom a request names is not asked for again. Its owner may have changed.
    now = task_parties(task) if kept is None else parties(starter=None, owner=task.owner.get_username())
    return barred(never=_once([*(kept or []), *now]), username=username)


def editor_refusal(*, request: ApprovalRequest, principal: Principal) -> str | None:
    """Say why this caller may not change a proposal's arguments, or None: operators and those who decide may."""
    if principal.agent:
        return "An agent's token can never change what a person is asked. A person does, signed in or with their token."
    roles = roles_of(user=principal.user, workspace=request.workspace_id)
    rights = [right for right in (Right.APPROVALS_DECIDE, Right.TASKS_OPERATE) if may(roles, right)]
    if not rights:
        return "Changing a proposal needs the right approvals:decide or tasks:operate."
    if principal.scopes is not None and not principal.scopes.intersection(rights):
        return f"This token lacks the scope {rights[0].value}."
    return None


def group_holds(*, workspace_id: UUID, group: str, user: int) -> bool:
    """Whether a person belongs to a group; everyone with the right is a group too."""
    if group == EVERYONE:
        return True
    return ApproverGroup.objects.filter(workspace=workspace_id, name=group, members=user).exists()


def counted(*, request: ApprovalRequest, task: Task, group: str = "") -> list[int]:
    """Return the approvals that count towards the quorum now, by their ids: their people still have the right, belong
    to the group that is asked, and are no party.
    """
    asked = group or request.group
    return [
        answer
        for answer, (user, username, roles) in _approvers(request).items()
        if may(frozenset(roles), Right.APPROVALS_DECIDE)
        and group_holds(workspace_id=request.workspace_id, group=asked, user=user)
        and _barred(request, task, username) is None
    ]


def _approvers(request: ApprovalRequest) -> dict[int, tuple[int, str, list[Role]]]:
    """Return who has approved, with their roles of now, by their answers in order; whoever has none is left out."""
    members = request.answers.filter(
        answer=Answer.APPROVED, user__is_active=True, user__memberships__workspace=request.workspace_id
    )
    found: dict[int, tuple[int, str, list[Role]]] = {}
    rows = members.order_by("at", "pk").values_list("pk", "user", "user__username", "user__memberships__role")
    for answer, user, username, role in rows:
        found.setdefault(answer, (user, username, []))[2].append(Role(role))
    return found


def task_parties(task: Task) -> list[dict[str, str]]:
    """Return who must not decide a call of this task."""
    return parties(starter=_starter(task), owner=task.owner.get_username())


def _starter(task: Task) -> str | None:
    """Return the person who started the task, or the root of the tasks that spawned it."""
    root = task
    while root.parent is not None:
        root = root.parent
    actor = Event.objects.filter(stream=root.pk, seq=1).values_list("actor", flat=True).first() or ""
    return actor.removeprefix("person:") if actor.startswith("person:") else None


def _once(entries: list[dict[str, str]]) -> list[dict[str, str]]:
    return list({(entry["user"], entry["why"]): entry for entry in entries}.values())
