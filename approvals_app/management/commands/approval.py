"""``manage.py approval list | show | approve | deny``: the same functions as page and API, recorded as made here."""

import json
from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from approvals_app.models import ApprovalRequest
from approvals_app.rights import roles_of
from approvals_app.selectors.card import approval_card
from approvals_app.services.decide import approval_decide
from approvals_app.status import Answer, ApprovalStatus, Via
from core.errors import HandrailError
from core.moments import absolute
from core.principal import Principal

_ANSWERS = {"approve": Answer.APPROVED, "deny": Answer.DENIED}


class Command(BaseCommand):
    """Lists what waits for a person, shows a card, and decides as a named person."""

    help = "List approvals, show one, or decide one as a person; recorded as made on the server."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the four verbs."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        verbs.add_parser("list", help="what waits for a decision")
        show = verbs.add_parser("show", help="the card, with every argument")
        show.add_argument("approval", type=UUID)
        for verb in _ANSWERS:
            decide = verbs.add_parser(verb, help=f"{verb} one call")
            decide.add_argument("approval", type=UUID)
            decide.add_argument("--reason", required=True)
            decide.add_argument("--as", dest="user", required=True, metavar="USER", help="the person who decides")
            decide.add_argument("--digest", help="of the call that was read; refused if it is another by now")

    def handle(self, *_: Any, **options: Any) -> None:
        """Do what was asked; a refusal is a sentence and exit status 1."""
        try:
            getattr(self, f"_{options['verb']}", self._decide)(options)
        except HandrailError as error:
            raise CommandError(error.detail) from error

    def _list(self, options: dict[str, Any]) -> None:
        waiting = ApprovalRequest.objects.filter(status=ApprovalStatus.REQUESTED).order_by("decide_by", "pk")
        for row in waiting.select_related("workspace"):
            until = absolute(row.decide_by) if row.decide_by else "no deadline"
            self.stdout.write(f"{row.pk}  {row.workspace.slug}  {row.risk}  until {until}  {row.line!r}")
        if not waiting:
            self.stdout.write("Nothing waits for a decision.")

    def _show(self, options: dict[str, Any]) -> None:
        row = _find(options["approval"])
        card = approval_card(request=row, principal=_principal(row.task.owner, row))
        lines = {
            "what": row.line,
            "status": row.status,
            "tool": f"{row.tool} version {row.contract_version}",
            "risk": row.risk,
            "effect": card.effect,
            "digest": row.digest,
            "agent says": card.reason,
            "decided": card.decided or card.ended,
        }
        for label, text in lines.items():
            self.stdout.write(f"{label}: {json.dumps(text)}")  # escapes: what cannot be seen is shown
        self.stdout.write(json.dumps(dict(card.arguments), indent=2))

    def _decide(self, options: dict[str, Any]) -> None:
        row = _find(options["approval"])
        user = User.objects.filter(username=options["user"]).first()
        if user is None:
            raise CommandError(f"There is no person {options['user']!r}; nothing was changed.")
        outcome = approval_decide(
            approval=row.pk,
            principal=_principal(user, row),
            decision=_ANSWERS[options["verb"]],
            reason=options["reason"],
            digest=options["digest"] or row.digest,
            via=Via.COMMAND,
        )
        said = "" if outcome.new else " (as before)"
        left = "" if outcome.decided else f", of {outcome.request.quorum} that are needed; it still waits for others"
        answer = _ANSWERS[options["verb"]]
        self.stdout.write(f"{answer} by {user.get_username()}{said}{left}: {outcome.request.line!r}")


def _find(approval: UUID) -> ApprovalRequest:
    row = ApprovalRequest.objects.select_related("task", "task__owner", "workspace").filter(pk=approval).first()
    if row is None:
        raise CommandError(f"There is no approval {approval}; `manage.py approval list` shows what waits.")
    return row


def _principal(user: User, row: ApprovalRequest) -> Principal:
    return Principal(user=user, workspace=row.workspace, roles=roles_of(user=user, workspace=row.workspace_id))
