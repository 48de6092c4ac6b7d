"""Grants: a credential for exactly one invocation, for a short time, once.

issued -> used | expired | revoked. A grant is used in one conditional update at the moment at which its value is
handed over; who may have won that race is a revocation or the clock, and then nothing is handed over.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction

from core.clock import ClockTimestamp, database_now
from tasks_app.contracts import Refused
from tasks_app.credentials.keys import unseal
from tasks_app.credentials.known import ripe_wait
from tasks_app.models import Credential, CredentialGrant
from tasks_app.record.events import CredentialIssued, CredentialUsed, Event
from tasks_app.record.stored import masker_learn

SPARE = 2.0  # seconds beyond the invocation's own time, for what comes between issuing and handing over


@dataclass(frozen=True, slots=True, kw_only=True)
class Purpose:
    """What a grant is for: one invocation of one function for one call."""

    workspace: UUID
    task: UUID
    call: str
    role: str
    attempt: int = 0


@dataclass(slots=True)
class Granted:
    """The grants of one invocation; ``events`` is what the record shall say of their use."""

    grants: Sequence[CredentialGrant] = ()
    events: list[Event] = field(default_factory=list)

    def take(self) -> dict[str, str]:
        """Use them, once, and return the values by name. Raises Refused: nothing was handed over."""
        if not self.grants:
            return {}
        for one in self.grants:
            ripe_wait(one.credential.changed_at)
        with transaction.atomic():
            self._use()
        values = {one.credential.name: unseal(bytes(one.credential.sealed)) for one in self.grants}
        masker_learn(values.values())
        self.events += [
            CredentialUsed(name=one.call, credential=one.credential.name, grant=str(one.pk)) for one in self.grants
        ]
        return values

    def _use(self) -> None:
        """Mark them as used, or raise Refused, which undoes it."""
        # Conditions on this table only: a join would become a subquery, which, once it has waited for a revocation
        # that holds the row, would still see the grant as it was before.
        unused = CredentialGrant.objects.filter(
            pk__in=[one.pk for one in self.grants],
            used_at=None,
            revoked_at=None,
            over_at=None,
            expires_at__gt=ClockTimestamp(),
        )
        whole = unused.update(used_at=ClockTimestamp()) == len(self.grants)
        # Whoever issued one just as its credential was revoked had read before, and that grant was not taken back. A
        # revocation that begins now waits for our rows, and ends whoever holds the value.
        revoked = Credential.objects.filter(pk__in=[one.credential_id for one in self.grants], revoked_at__isnull=False)
        if not whole or revoked.exists():
            reason = "A credential that it needs was revoked, or its grant is over; nothing was handed over."
            raise Refused(reason, code="credential-revoked")

    def holds(self) -> bool:
        """Whether none of them has been revoked since."""
        return not CredentialGrant.objects.filter(
            pk__in=[one.pk for one in self.grants], revoked_at__isnull=False
        ).exists()


def grants_make(names: Iterable[str], purpose: Purpose, *, seconds: float) -> tuple[Granted, list[Event]]:
    """Make the grants of one invocation, and the events that say so; call it in the transaction that appends them.

    Raises Refused where a credential is not there: nothing was issued.
    """
    wanted = list(names)
    found = {one.name: one for one in Credential.objects.filter(workspace=purpose.workspace, name__in=wanted)}
    missing = [name for name in wanted if name not in found or found[name].revoked_at]
    if missing:
        reason = f"The credential {missing[0]!r} is not set in this workspace, or was revoked. Nothing was sent."
        raise Refused(reason, code="credential-missing")
    until = database_now() + timedelta(seconds=seconds + SPARE)
    grants = [_make(found[name], purpose, until) for name in wanted]
    events: list[Event] = [_issued(grant) for grant in grants]
    return Granted(grants), events


def _make(credential: Credential, purpose: Purpose, until: Any) -> CredentialGrant:
    return CredentialGrant.objects.create(
        credential=credential,
        task_id=purpose.task,
        call=purpose.call,
        role=purpose.role,
        attempt=purpose.attempt,
        expires_at=until,
    )


def _issued(grant: CredentialGrant) -> CredentialIssued:
    return CredentialIssued(
        name=grant.call,
        credential=grant.credential.name,
        grant=str(grant.pk),
        role=grant.role,
        attempt=grant.attempt,
        expires_at=grant.expires_at.isoformat(),
    )
