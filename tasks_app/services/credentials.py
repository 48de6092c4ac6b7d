"""Setting and revoking credentials. A value goes in once and is never shown again."""

import re
from uuid import UUID

from django.db import transaction

from core.clock import ClockTimestamp
from core.errors import InvalidInput, NotFound
from core.models import Workspace
from tasks_app.credentials.keys import reseal, seal
from tasks_app.models import Credential, CredentialGrant
from tasks_app.record.append import append_administration
from tasks_app.record.events import CredentialChanged, CredentialExpired, CredentialRevoked
from tasks_app.record.stored import SHORTEST_SECRET, masker_learn
from tasks_app.services.command import Command
from tasks_app.status import TERMINAL
from tasks_app.task_lock import tasks_locked

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,119}")
LONGEST = 16 * 1024  # bytes; several must fit through one pipe
AT_A_TIME = 500


def credential_set(*, workspace: Workspace, name: str, value: str, reason: str = "", actor: str) -> Credential:
    """Set a credential, or set it anew; one that was revoked is good again. Raises InvalidInput."""
    _checked(name, value)
    masker_learn([value])
    with transaction.atomic():
        before = Credential.objects.select_for_update().filter(workspace=workspace, name=name).first()
        sealed = seal(value, after=bytes(before.sealed) if before else b"")
        made, _ = Credential.objects.update_or_create(
            workspace=workspace,
            name=name,
            defaults={"sealed": sealed, "changed_at": ClockTimestamp(), "revoked_at": None},
        )
        _record(workspace, actor, name, before={"set": True} if before else None, after={"set": True}, reason=reason)
    return made


def credential_revoke(*, workspace: Workspace, name: str, reason: str = "", actor: str) -> int:
    """Revoke a credential: no grant of it is issued or used from now on, and what holds one is ended within a second.

    Returns how many open grants it took back. Raises NotFound.
    """
    with transaction.atomic():
        found = Credential.objects.select_for_update().filter(workspace=workspace, name=name).first()
        if found is None:
            raise NotFound
        if found.revoked_at is None:
            Credential.objects.filter(pk=found.pk).update(revoked_at=ClockTimestamp())
            _record(workspace, actor, name, before={"set": True}, after=None, reason=reason)
        open_grants = CredentialGrant.objects.filter(credential=found, revoked_at=None, over_at=None)
        taken = list(open_grants.filter(expires_at__gt=ClockTimestamp()).values_list("pk", "task_id", "call"))
        CredentialGrant.objects.filter(pk__in=[pk for pk, _, _ in taken]).update(revoked_at=ClockTimestamp())
    for pk, task, call in taken:  # one task at a time: no transaction locks two
        _say(task, CredentialRevoked(name=call, credential=name, grant=str(pk)), actor)
    return len(taken)


def credentials_reseal(*, workspace: Workspace | None = None) -> int:
    """Seal every credential with the newest key; the older keys may be taken away afterwards. Returns how many."""
    rows = Credential.objects.all() if workspace is None else Credential.objects.filter(workspace=workspace)
    count = 0
    for pk in rows.values_list("pk", flat=True):
        with transaction.atomic():
            row = Credential.objects.select_for_update().get(pk=pk)
            Credential.objects.filter(pk=pk).update(sealed=reseal(bytes(row.sealed)))
        count += 1
    return count


def grants_expire() -> int:
    """Record the grants that ended unused, and forget those whose time is long over; returns how many were recorded."""
    over = CredentialGrant.objects.filter(used_at=None, revoked_at=None, over_at=None, expires_at__lte=ClockTimestamp())
    rows = list(over.values_list("pk", "task_id", "call", "credential__name")[:AT_A_TIME])
    count = 0
    for pk, task, call, name in rows:
        # Another sweeper may have been first: then nothing is changed, and nothing is said twice.
        if CredentialGrant.objects.filter(pk=pk, over_at=None, used_at=None).update(over_at=ClockTimestamp()):
            _say(task, CredentialExpired(name=call, credential=name, grant=str(pk)), "sweeper")
            count += 1
    return count


def _say(task: UUID, event: CredentialRevoked | CredentialExpired, actor: str) -> None:
    with transaction.atomic():
        row = tasks_locked().filter(pk=task).first()
        if row is not None:
            Command(task=row, actor=actor).record(event, after_end=row.status in TERMINAL)


def _record(workspace: Workspace, actor: str, name: str, *, before: object, after: object, reason: str) -> None:
    event = CredentialChanged(what=name, before=before, after_change=after, reason=reason or None)
    append_administration(workspace=workspace.pk, events=[event], actor=actor)


def _checked(name: str, value: str) -> None:
    if not NAME.fullmatch(name):
        raise InvalidInput("A credential's name is 1 to 120 characters of a-z, 0-9, dot, dash and underscore.")
    if len(value) < SHORTEST_SECRET:
        raise InvalidInput(
            f"The value has fewer than {SHORTEST_SECRET} characters: wherever it stood, it could not be told from"
            " ordinary words and would not be masked. Nothing was stored."
        )
    if len(value.encode()) > LONGEST:
        raise InvalidInput(f"The value has more than {LONGEST:,} bytes. Nothing was stored.")
