"""The workspace and the people of the demo; repeating it changes nothing."""

from dataclasses import dataclass

from django.contrib.auth.models import User

from core.access import Role
from core.models import Workspace
from tasks_app.services.access import person_create, workspace_create

SEEDER = "system"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeded:
    """The demo's workspace; ``rhea`` starts and owns, ``silas`` approves what she started, ``noor`` what he edited."""

    workspace: Workspace
    rhea: User
    silas: User
    noor: User


def demo_seed(*, slug: str = "demo", name: str = "Demo") -> Seeded:
    """Create what is missing of the demo's workspace and people, and return it.

    Nobody has a password: they sign in by a one-time link on this machine (``manage.py sign_in_link``).
    """
    workspace = Workspace.objects.filter(slug=slug).first() or workspace_create(slug=slug, name=name)
    both = [Role.ENGINEER, Role.APPROVER]
    return Seeded(
        workspace=workspace,
        rhea=person_create(username="rhea", workspace=workspace, roles=[*both, Role.ADMIN], actor=SEEDER),
        silas=person_create(username="silas", workspace=workspace, roles=[Role.OPERATOR, Role.APPROVER], actor=SEEDER),
        noor=person_create(username="noor", workspace=workspace, roles=[Role.APPROVER], actor=SEEDER),
    )
