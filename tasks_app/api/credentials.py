"""Credentials over HTTP: what there is, who was granted it, and taking it back. A value never leaves by here."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Field, Router, Schema

from core.access import Right
from core.clock import database_now
from core.principal import caller
from tasks_app.api.schemas import ReasonIn
from tasks_app.models import CredentialGrant
from tasks_app.selectors.credentials import credential_grants, credentials_seen, grant_state
from tasks_app.services.credentials import credential_revoke

router = Router()


class CredentialOut(Schema):
    """A credential without its value. ``version``: how often it was set."""

    name: str
    version: int
    created_at: datetime
    changed_at: datetime
    revoked_at: datetime | None
    last_used_at: datetime | None
    grants: int
    open_grants: int
    tools: list[str] = Field(description="The tools whose contracts name it, as this process carries them.")


class GrantOut(Schema):
    """One credential for one invocation of one call."""

    id: UUID
    task: UUID
    call: str
    role: str
    attempt: int
    state: str = Field(description="open, used, revoked or expired")
    issued_at: datetime
    expires_at: datetime
    used_at: datetime | None


class RevokedOut(Schema):
    """How many open grants a revocation took back."""

    taken_back: int


@router.get("", response=list[CredentialOut])
def listing(request: HttpRequest) -> Any:
    """List the credentials of this workspace, never their values."""
    return credentials_seen(workspace=caller(request, Right.AUDIT_READ).workspace)


@router.get("/{name}/grants", response=list[GrantOut])
def grants(request: HttpRequest, name: str) -> Any:
    """List the newest grants of one."""
    who, now = caller(request, Right.AUDIT_READ), database_now()
    return [_grant_out(grant, now) for grant in credential_grants(workspace=who.workspace, name=name)]


@router.post("/{name}/revoke", response=RevokedOut)
def revoke(request: HttpRequest, name: str, body: ReasonIn) -> Any:
    """Revoke one: nothing is granted or handed over from now on, and what holds it is ended within a second."""
    who = caller(request, Right.ADMINISTER)
    count = credential_revoke(workspace=who.workspace, name=name, reason=body.reason, actor=who.actor)
    return {"taken_back": count}


def _grant_out(grant: CredentialGrant, now: datetime) -> dict[str, Any]:
    names = ("id", "call", "role", "attempt", "issued_at", "expires_at", "used_at")
    own = {name: getattr(grant, name) for name in names}
    return own | {"task": grant.task_id, "state": grant_state(grant, now)}
