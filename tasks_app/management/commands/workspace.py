"""``manage.py workspace create|list|member``: workspaces and who belongs to them."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import IntegrityError

from core.access import Role
from core.errors import HandrailError
from core.models import Workspace
from core.problem import problem_of
from tasks_app.services.access import roles_set, workspace_add

ON_SERVER = "system"


class Command(BaseCommand):
    """Makes and lists workspaces, and sets a person's roles in one."""

    help = "Make or list workspaces, or set a person's roles in one."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the three verbs."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        create = verbs.add_parser("create", help="make a workspace")
        create.add_argument("slug")
        create.add_argument("name")
        verbs.add_parser("list", help="list the workspaces and their members")
        member = verbs.add_parser("member", help="make these a person's roles (none: they leave the workspace)")
        member.add_argument("slug")
        member.add_argument("user")
        member.add_argument("roles", nargs="*", choices=[*(role.value for role in Role), []])

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the verb."""
        try:
            getattr(self, options["verb"])(options)
        except (HandrailError, IntegrityError) as error:
            raise CommandError(problem_of(error).detail) from error

    def create(self, options: dict[str, Any]) -> None:
        """Make a workspace."""
        workspace = workspace_add(slug=options["slug"], name=options["name"], actor=ON_SERVER)
        self.stdout.write(f"Workspace {workspace.slug} is there.")

    def list(self, options: dict[str, Any]) -> None:
        """Print one line a membership."""
        for workspace in Workspace.objects.order_by("slug").prefetch_related("memberships__user"):
            self.stdout.write(f"{workspace.slug}: {workspace.name}")
            for membership in workspace.memberships.all():
                self.stdout.write(f"  {membership.user.get_username()}  {membership.role}")

    def member(self, options: dict[str, Any]) -> None:
        """Set roles."""
        workspace = Workspace.objects.filter(slug=options["slug"]).first()
        user = User.objects.filter(username=options["user"]).first()
        if workspace is None or user is None:
            raise CommandError("There is no such workspace or no such person; manage.py workspace list shows them.")
        roles = [Role(role) for role in options["roles"]]
        roles_set(workspace=workspace, user=user, roles=roles, actor=ON_SERVER)
        said = ", ".join(options["roles"]) or "no role"
        self.stdout.write(f"{user.get_username()} has {said} in {workspace.slug}.")
