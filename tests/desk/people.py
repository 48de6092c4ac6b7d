"""People of a desk, with rights, and an outsider."""

from dataclasses import dataclass

from django.contrib.auth.models import User

from core.access import Role
from core.models import Membership, Workspace


@dataclass(frozen=True)
class Desk:
    """``rhea`` and ``silas`` decide, ``owen`` owns the tasks (and may decide others), ``vera`` looks, ``tobin`` is
    from another workspace."""

    workspace: Workspace
    rhea: User
    silas: User
    owen: User
    vera: User
    tobin: User


def desk_create() -> Desk:
    ours = Workspace.objects.create(slug="alder", name="Alder")
    other = Workspace.objects.create(slug="birch", name="Birch")
    return Desk(
        workspace=ours,
        rhea=_person("rhea", ours, Role.APPROVER),
        silas=_person("silas", ours, Role.APPROVER, Role.OPERATOR),
        owen=_person("owen", ours, Role.APPROVER, Role.OPERATOR),
        vera=_person("vera", ours, Role.VIEWER),
        tobin=_person("tobin", other, *Role),
    )


def _person(name: str, workspace: Workspace, *roles: Role) -> User:
    user = User.objects.create_user(name, password="correct horse battery")
    Membership.objects.bulk_create([Membership(user=user, workspace=workspace, role=role) for role in roles])
    return user
