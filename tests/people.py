"""Three fixed people, so that every test can check rights cheaply: owner, teammate, outsider."""

from dataclasses import dataclass

import pytest
from django.contrib.auth.models import User

from core.access import Role
from core.models import Membership, Workspace
from core.principal import Principal


@dataclass(frozen=True)
class People:
    """``rhea`` owns and approves, ``silas`` is her teammate, ``tobin`` has every role, but in another workspace."""

    workspace: Workspace
    elsewhere: Workspace
    rhea: User
    silas: User
    tobin: User


def person(username: str, workspace: Workspace, *roles: Role) -> User:
    """Return the person of that name, with those roles in the workspace."""
    user, new = User.objects.get_or_create(username=username)
    if new:
        user.set_password("correct horse battery")
        user.save()
    Membership.objects.bulk_create([Membership(user=user, workspace=workspace, role=role.value) for role in roles])
    return user


def people_create() -> People:
    """Create the three in two workspaces."""
    workspace = Workspace.objects.create(slug="harbour", name="Harbour")
    elsewhere = Workspace.objects.create(slug="elsewhere", name="Elsewhere")
    return People(
        workspace=workspace,
        elsewhere=elsewhere,
        rhea=person("rhea", workspace, Role.ENGINEER, Role.APPROVER),
        silas=person("silas", workspace, Role.OPERATOR, Role.APPROVER),
        tobin=person("tobin", elsewhere, *Role),
    )


@pytest.fixture
def people(db: None) -> People:
    """The three people, rolled back or flushed with the test."""
    return people_create()


def principal_of(user: User, workspace: Workspace) -> Principal:
    """Return a person as the caller that signing in makes of them."""
    roles = Membership.objects.filter(user=user, workspace=workspace).values_list("role", flat=True)
    return Principal(user=user, workspace=workspace, roles=frozenset(map(Role, roles)))
