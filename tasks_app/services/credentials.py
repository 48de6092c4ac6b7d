"""Setting and revoking credentials. A value goes in once and is never shown again."""

import re
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from core.clock import ClockTimestamp
from core.errors import InvalidInput, NotFound
from core.models import Workspace
from core.row_by_row import row_by_row
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
LOOKED_BACK = timedelta(days=1)  # for revocations of which tasks were not told
Taken = tuple[UUID, UUID, str, str]  # grant, task, call, credential


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
    # One task at a time: no transaction locks two. What a crash leaves out is said by a sweeper.
    row_by_row([(pk, task, call, name) for pk, task, call in taken], lambda row: _revocation_say(row, actor))
    return len(taken)


def revocations_say() -> int:
    """Tell the tasks of which the revocation of a credential was not told, by a crash; return how many were told."""
    recent = CredentialGrant.objects.filter(credential__revoked_at__gt=ClockTimestamp() - LOOKED_BACK)
    unsaid = recent.filter(revoked_at__isnull=False, over_at=None).order_by("pk")
    rows = unsaid.values_list("pk", "task_id", "call", "credential__name")[:AT_A_TIME]
    return row_by_row(rows, lambda row: _revocation_say(row, "sweeper"))


def _revocation_say(row: Taken, actor: str) -> int:
    """Say it, once; that it was said is kept in the same transaction, as the time at which the grant was over."""
    grant, task, call, name = row
    return _say(grant, task, CredentialRevoked(name=call, credential=name, grant=str(grant)), actor)


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
    return row_by_row(over.values_list("pk", "task_id", "call", "credential__name")[:AT_A_TIME], _expire)


def _expire(row: Taken) -> int:
    grant, task, call, name = row
    return _say(grant, task, CredentialExpired(name=call, credential=name, grant=str(grant)), "sweeper", used_at=None)


def _say(
    grant: UUID, task: UUID, event: CredentialRevoked | CredentialExpired, actor: str, **still: datetime | None
) -> int:
    """Change the grant and say so in one transaction; return 0 where it is not as it ``still`` had to be."""
    with transaction.atomic():
        row = tasks_locked().filter(pk=task).first()
        # Another may have been first: then nothing is changed, and nothing is said twice.
        if not CredentialGrant.objects.filter(pk=grant, over_at=None, **still).update(over_at=ClockTimestamp()):
            return 0
        if row is not None:
            Command(task=row, actor=actor).record(event, after_end=row.status in TERMINAL)
    return 1


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
