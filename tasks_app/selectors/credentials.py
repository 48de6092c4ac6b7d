"""Credentials as people and programs may see them: names, changes, use and grants. Never a value."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Q

from core.clock import ClockTimestamp
from core.errors import NotFound
from core.models import Workspace
from tasks_app import registry
from tasks_app.models import Credential, CredentialGrant, Event

NEWEST = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialSeen:
    """One credential. ``version``: how often it was set; ``open_grants``: issued, and neither used nor over yet."""

    name: str
    version: int
    created_at: datetime
    changed_at: datetime
    revoked_at: datetime | None
    last_used_at: datetime | None
    grants: int
    open_grants: int
    tools: Sequence[str]


def credentials_seen(*, workspace: Workspace) -> list[CredentialSeen]:
    """Return those of a workspace, by name."""
    is_open = Q(grants__used_at=None, grants__revoked_at=None, grants__over_at=None)
    rows = Credential.objects.filter(workspace=workspace).defer("sealed").order_by("name")
    counted = rows.annotate(
        last_used_at=Max("grants__used_at"),
        issued=Count("grants"),
        standing=Count("grants", filter=is_open & Q(grants__expires_at__gt=ClockTimestamp())),
    )
    versions = _versions(workspace)
    tools = _tools()
    return [_seen(row, versions.get(row.name, 1), tools.get(row.name, [])) for row in counted]


def credential_grants(*, workspace: Workspace, name: str) -> list[CredentialGrant]:
    """Return the newest grants of one. Raises NotFound."""
    if not Credential.objects.filter(workspace=workspace, name=name).exists():
        raise NotFound
    grants = CredentialGrant.objects.filter(credential__workspace=workspace, credential__name=name)
    return list(grants.select_related("task").order_by("-pk")[:NEWEST])


def grant_state(grant: CredentialGrant, now: datetime) -> str:
    """Say how a grant stands: used, revoked, expired or open."""
    if grant.revoked_at:
        return "revoked"
    if grant.used_at:
        return "used"
    return "expired" if grant.over_at or grant.expires_at <= now else "open"


def _versions(workspace: Workspace) -> dict[str, int]:
    """Count how often each was set, by the administration stream."""
    changes = Event.objects.filter(stream=workspace.pk, kind="credential.changed", data__after_change__set=True)
    rows: Any = changes.values("data__what").annotate(count=Count("pk")).values_list("data__what", "count")
    return dict(rows)


def _tools() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for contract in registry.tools():
        for name in contract.credentials:
            if contract.name not in found.setdefault(name, []):
                found[name].append(contract.name)
    return found


def _seen(row: Any, version: int, tools: Sequence[str]) -> CredentialSeen:
    return CredentialSeen(
        name=row.name,
        version=version,
        created_at=row.created_at,
        changed_at=row.changed_at,
        revoked_at=row.revoked_at,
        last_used_at=row.last_used_at,
        grants=row.issued,
        open_grants=row.standing,
        tools=tools,
    )
