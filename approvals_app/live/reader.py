"""Who listens to the desk and to a card: asked again at every read."""

from uuid import UUID

from django.contrib.auth.models import User

from approvals_app.models import ApprovalRequest
from approvals_app.rights import workspaces_of
from core.access import Right, Role
from core.models import Membership
from core.principal import Principal
from tasks_app.live.reader import Listener, Withdrawn


def desk_reader(listener: Listener) -> User:
    """Return the person at the other end, who may read the approvals of some workspace. Raises Withdrawn."""
    user = listener.user()
    if not workspaces_of(user=user, right=Right.APPROVALS_READ):
        raise Withdrawn
    return user


def card_reader(listener: Listener, approval: UUID) -> Principal:
    """Return the listener in the workspace of an approval. Raises Withdrawn, also for one that never was."""
    user = listener.user()
    found = ApprovalRequest.objects.filter(pk=approval).select_related("workspace").first()
    if found is None:
        raise Withdrawn
    roles = Membership.objects.filter(user=user, workspace=found.workspace).values_list("role", flat=True)
    principal = Principal(
        user=user,
        workspace=found.workspace,
        roles=frozenset(map(Role, roles)),
        stepped_up_at=listener.stepped_up_at() if found.step_up_within else None,
    )
    if not principal.may(Right.APPROVALS_READ):
        raise Withdrawn
    return principal
