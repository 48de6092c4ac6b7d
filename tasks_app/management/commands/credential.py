"""``manage.py credential set|list|revoke|reseal|key``: credentials that tools are granted call by call."""

import getpass
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from core.errors import HandrailError
from core.models import Workspace
from core.sealed_factors import factors_reseal
from tasks_app.credentials.keys import key_new
from tasks_app.models import Credential
from tasks_app.services.credentials import credential_revoke, credential_set, credentials_reseal

ON_SERVER = "system"
WHERE = "its short name; may be left out where there is only one"


class Command(BaseCommand):
    """Sets, lists and revokes credentials; a value comes from the terminal or a pipe, never from arguments."""

    help = "Set, list or revoke credentials, seal them with the newest key, or print a new key."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the verbs."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        for verb, text in (("set", "set it; the value is asked for, or read from a pipe"), ("revoke", "revoke it")):
            one = verbs.add_parser(verb, help=text)
            one.add_argument("name")
            one.add_argument("--workspace", help=WHERE)
            one.add_argument("--reason", default="")
        verbs.add_parser("list", help="list names, never values").add_argument("--workspace", help=WHERE)
        verbs.add_parser("reseal", help="seal all with the newest key")
        verbs.add_parser("key", help="print a new key for HANDRAIL_CREDENTIAL_KEYS")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the verb."""
        try:
            getattr(self, f"do_{options['verb']}")(options)
        except HandrailError as error:
            raise CommandError(error.detail) from error

    def do_set(self, options: dict[str, Any]) -> None:
        """Set one."""
        workspace = _workspace(options["workspace"])
        asked = sys.stdin.isatty()
        value = getpass.getpass("Value: ") if asked else sys.stdin.read().rstrip("\n")
        credential_set(
            workspace=workspace, name=options["name"], value=value, reason=options["reason"], actor=ON_SERVER
        )
        self.stdout.write(f"The credential {options['name']} is set; its value is shown nowhere.")

    def do_revoke(self, options: dict[str, Any]) -> None:
        """Revoke one."""
        count = credential_revoke(
            workspace=_workspace(options["workspace"]),
            name=options["name"],
            reason=options["reason"],
            actor=ON_SERVER,
        )
        self.stdout.write(f"The credential {options['name']} is revoked; {count} open grants of it were taken back.")

    def do_list(self, options: dict[str, Any]) -> None:
        """Print one line a credential."""
        for one in Credential.objects.filter(workspace=_workspace(options["workspace"])).order_by("name"):
            state = f"revoked {one.revoked_at:%Y-%m-%d %H:%M}" if one.revoked_at else "set"
            self.stdout.write(f"{one.name}  {state}  changed {one.changed_at:%Y-%m-%d %H:%M} UTC")

    def do_reseal(self, options: dict[str, Any]) -> None:
        """Seal all with the newest key."""
        self.stdout.write(f"{credentials_reseal()} credentials are sealed with the newest key.")
        self.stdout.write(f"{factors_reseal()} second factors are sealed with the newest key.")

    def do_key(self, options: dict[str, Any]) -> None:
        """Print a new key."""
        self.stdout.write(key_new())


def _workspace(slug: str | None) -> Workspace:
    """Return the workspace that is named, or the only one. Raises CommandError."""
    found = list(Workspace.objects.filter(slug=slug) if slug else Workspace.objects.order_by("slug")[:2])
    if len(found) != 1:
        raise CommandError("Say which workspace with --workspace; `manage.py workspace list` shows them.")
    return found[0]
