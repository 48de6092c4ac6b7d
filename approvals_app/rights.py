"""Who may see and who may decide an approval."""

from uuid import UUID

from django.contrib.auth.models import User

from core.access import Right, Role, may
from core.models import ApiToken, Membership


def roles_of(*, user: User, workspace: UUID) -> frozenset[Role]:
    """Return a person's roles in a workspace; an inactive person has none."""
    if not user.is_active:
        return frozenset()
    rows = Membership.objects.filter(user=user, workspace=workspace).values_list("role", flat=True)
    return frozenset(Role(role) for role in rows)


def workspaces_of(*, user: User, right: Right) -> list[UUID]:
    """Return the workspaces in which a person has a right."""
    if not user.is_active:
        return []
    rows = Membership.objects.filter(user=user).values_list("workspace_id", "role")
    return sorted({workspace for workspace, role in rows if may(frozenset({Role(role)}), right)})


def token_refusal(*, token: ApiToken | None, workspace: UUID) -> str | None:
    """Say why a decision may not be made with this token, or None; an agent's never may (rules 6 and 11)."""
    if token is None:
        return None
    if token.kind != "person":
        return "An agent's token can never decide an approval. A person decides, signed in or with their own token."
    if token.workspace_id != workspace or Right.APPROVALS_DECIDE not in token.scopes:
        return "This token lacks the scope approvals:decide for this workspace."
    return None
