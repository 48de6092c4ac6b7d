"""Who may see and who may decide an approval."""

from collections.abc import Sequence
from uuid import UUID

from django.contrib.auth.models import User

from core.access import Right, Role, may, rights_of
from core.models import Membership
from core.principal import Principal

Roles = Sequence[tuple[UUID, Role]]  # by workspace


def roles_of(*, user: User, workspace: UUID) -> frozenset[Role]:
    """Return a person's roles in a workspace; an inactive person has none."""
    if not user.is_active:
        return frozenset()
    rows = Membership.objects.filter(user=user, workspace=workspace).values_list("role", flat=True)
    return frozenset(Role(role) for role in rows)


def roles_held(*, user: User) -> Roles:
    """Return all of a person's roles; an inactive person has none."""
    if not user.is_active:
        return ()
    rows = Membership.objects.filter(user=user).values_list("workspace_id", "role")
    return [(workspace, Role(role)) for workspace, role in rows]


def workspaces_with(held: Roles, right: Right) -> list[UUID]:
    """Return the workspaces in which these roles give a right. Pure."""
    return sorted({workspace for workspace, role in held if may(frozenset({role}), right)})


def workspaces_of(*, user: User, right: Right) -> list[UUID]:
    """Return the workspaces in which a person has a right; an inactive person has none."""
    return workspaces_with(roles_held(user=user), right)


def rights_anywhere(*, user: User) -> frozenset[Right]:
    """Return what a person may do in at least one workspace; an inactive person may do nothing."""
    return rights_of(role for _, role in roles_held(user=user))


def credential_refusal(*, principal: Principal, right: Right) -> str | None:
    """Say why this credential may not be used for ``right``, or None; an agent's never decides (rules 6 and 11)."""
    if principal.agent:
        return "An agent's token can never decide an approval. A person decides, signed in or with their own token."
    if principal.scopes is not None and right not in principal.scopes:
        return f"This token lacks the scope {right.value}."
    return None
