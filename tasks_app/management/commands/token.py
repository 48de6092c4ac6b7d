"""``manage.py token create|list|revoke``: bearer tokens of the API."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from core.access import Right
from core.errors import HandrailError
from core.models import ApiToken, Workspace
from tasks_app.services.access import token_create, token_revoke

ON_SERVER = "system"
WHERE = "its short name; may be left out where there is only one"


class Command(BaseCommand):
    """Makes, lists and revokes bearer tokens; the change is recorded as made on the server."""

    help = "Make, list or revoke bearer tokens. A secret is shown once, when its token is made."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the three verbs."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        create = verbs.add_parser("create", help="make a token and print its secret")
        create.add_argument("user", help="whose rights it has, as far as its scopes go")
        create.add_argument("--workspace", help=WHERE)
        create.add_argument("--scope", action="append", choices=[right.value for right in Right], default=[])
        create.add_argument("--days", type=float, default=30, help="how long it is good for (default 30)")
        create.add_argument("--name", default="")
        create.add_argument("--agent", action="store_true", help="a program's: it can never decide an approval")
        listing = verbs.add_parser("list", help="list the tokens of a workspace")
        listing.add_argument("--workspace", help=WHERE)
        revoke = verbs.add_parser("revoke", help="revoke a token by its number")
        revoke.add_argument("id", type=int)
        revoke.add_argument("--workspace", help=WHERE)

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the verb."""
        workspace = self._workspace(options["workspace"])
        try:
            getattr(self, options["verb"])(workspace, options)
        except HandrailError as error:
            raise CommandError(error.detail) from error

    def _workspace(self, slug: str | None) -> Workspace:
        """Return the workspace that is named, or the only one. Raises CommandError."""
        if slug is None:
            every = list(Workspace.objects.order_by("slug")[:20])
            if len(every) == 1:
                return every[0]
            known = ", ".join(one.slug for one in every) or "none yet; manage.py workspace create makes one"
            raise CommandError(f"Say which workspace with --workspace. There are: {known}.")
        workspace = Workspace.objects.filter(slug=slug).first()
        if workspace is None:
            raise CommandError(f"There is no workspace {slug!r}; manage.py workspace list shows them.")
        return workspace

    def create(self, workspace: Workspace, options: dict[str, Any]) -> None:
        """Make a token; the last line of the output is the secret."""
        user = User.objects.filter(username=options["user"], is_active=True).first()
        if user is None:
            raise CommandError(f"There is no active person {options['user']!r}.")
        token, secret = token_create(
            workspace=workspace,
            user=user,
            name=options["name"] or f"{user.get_username()}'s token",
            scopes=[Right(scope) for scope in options["scope"]],
            days=options["days"],
            actor=ON_SERVER,
            kind="agent" if options["agent"] else "person",
        )
        self.stderr.write(f"Token {token.pk}, good until {token.expires_at:%Y-%m-%d %H:%M} UTC. Shown only now:")
        self.stdout.write(secret)

    def list(self, workspace: Workspace, options: dict[str, Any]) -> None:
        """Print one line a token."""
        for token in ApiToken.objects.filter(workspace=workspace).select_related("user").order_by("pk"):
            state = "revoked" if token.revoked_at else f"until {token.expires_at:%Y-%m-%d %H:%M} UTC"
            line = f"{token.pk}  {token.hint}…  {token.user.get_username()}  {token.name}  {' '.join(token.scopes)}"
            self.stdout.write(f"{line}  {state}")

    def revoke(self, workspace: Workspace, options: dict[str, Any]) -> None:
        """Revoke one."""
        token = token_revoke(workspace=workspace, token=options["id"], actor=ON_SERVER)
        self.stdout.write(f"Token {token.pk} ({token.name}) is revoked.")
