"""Workspaces, members and tokens: each change is an event of the workspace's administration stream."""

from collections.abc import Iterable
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from core.access import PEOPLE_ONLY, Right, Role
from core.clock import database_now
from core.errors import NotFound
from core.models import ApiToken, Membership, Workspace
from core.standstill import StandsStill
from core.tokens import HINT, secret_create
from tasks_app.record.append import append_administration
from tasks_app.record.events import RoleChanged
from tasks_app.services import intake

LONGEST_DAYS = 366
LONGEST_KEPT = 100_000  # days
ON_SERVER = "system"  # the author of what is done by `manage.py`
NO_PROGRAM = "a program's token can never decide an approval or settle a call in doubt."
THEIR_WORD = (
    'what is done with it is said to be done by that person, so it is made by themselves; a program\'s is "agent".'
)


def workspace_create(*, slug: str, name: str) -> Workspace:
    """Create a workspace. Raises InvalidInput; an existing slug is refused by its constraint."""
    return Workspace.objects.create(slug=slug_checked(slug), name=intake.text_checked("name", name, limit=120))


def slug_checked(slug: str) -> str:
    """Return a workspace's short name. Raises InvalidInput: addresses and tokens carry it."""
    if not slug or not slug.replace("-", "").isalnum() or not slug.isascii() or len(slug) > 60:
        raise intake.field_error("slug", "must be letters, digits and hyphens, at most 60.")
    return slug


def workspace_add(*, slug: str, name: str, actor: str) -> Workspace:
    """Create a workspace; its administration stream begins with who did. Raises as workspace_create."""
    with transaction.atomic():
        workspace = workspace_create(slug=slug, name=name)
        _record(workspace, f"workspace {slug}", None, {"name": workspace.name}, actor)
    return workspace


def workspace_change(*, workspace: Workspace, name: str, keep_days: int | None, actor: str) -> Workspace:
    """Give a workspace another name, or another time (days, None for ever) after which its ended tasks may go.

    Raises InvalidInput; the same values are no event.
    """
    wanted = {"name": intake.text_checked("name", name, limit=120), "keep_days": keep_days}
    if keep_days is not None and not 1 <= keep_days <= LONGEST_KEPT:
        raise intake.field_error("keep_days", f"must be between 1 and {LONGEST_KEPT} days.")
    with transaction.atomic():
        held = _locked(workspace)
        before = {field: getattr(held, field) for field in wanted}
        new = {field: value for field, value in wanted.items() if value != before[field]}
        if new:
            # Of the row, these alone: the head of its stream moves with every append.
            Workspace.objects.filter(pk=held.pk).update(**new)
            _record(held, f"workspace {held.slug}", {field: before[field] for field in new}, new, actor)
    return Workspace.objects.get(pk=workspace.pk)


def roles_set(*, workspace: Workspace, user: User, roles: Iterable[Role], actor: str) -> frozenset[Role]:
    """Make these the person's roles in the workspace (none: they leave it); no change is no event."""
    wanted = frozenset(roles)
    with transaction.atomic():
        _locked(workspace)
        mine = Membership.objects.filter(workspace=workspace, user=user)
        before = frozenset(Role(role) for role in mine.values_list("role", flat=True))
        if wanted != before:
            mine.exclude(role__in=wanted).delete()
            new = [Membership(workspace=workspace, user=user, role=role) for role in wanted - before]
            Membership.objects.bulk_create(new)
            _record(workspace, f"roles of {user.get_username()}", sorted(before), sorted(wanted), actor)
    return wanted


def person_create(
    *, username: str, workspace: Workspace, roles: Iterable[Role], actor: str, password: str = ""
) -> User:
    """Return the person of that name with exactly those roles; a new one without password signs in by link only."""
    with transaction.atomic():
        user, new = User.objects.get_or_create(username=username)
        if new or password:
            user.set_password(password or None)
            user.save(update_fields=["password"])
        roles_set(workspace=workspace, user=user, roles=roles, actor=actor)
    return user


def token_create(
    *,
    workspace: Workspace,
    user: User,
    name: str,
    scopes: Iterable[Right],
    days: float,
    actor: str,
    kind: str = "person",
) -> tuple[ApiToken, str]:
    """Create a bearer token; return it with its secret, which is shown this once and kept as a hash only.

    ``kind`` "agent" is a program's: it acts under its own name; it can never decide an approval or settle a doubt.
    A person's is made by that person, or on the server: whoever made it holds its secret, and could approve under their
    own name what they started or edited with it (rule 6).
    Raises InvalidInput: no scope, no member, a time that is no time.
    """
    wanted = sorted(set(scopes))
    if kind not in {"person", "agent"}:
        raise intake.field_error("kind", 'must be "person" or "agent".')
    if not wanted:
        raise intake.field_error("scopes", f"name at least one of {', '.join(Right)}.")
    mistake = word_mistake(kind=kind, scopes=wanted, user=user, actor=actor)
    if mistake:
        raise intake.field_error("scopes" if kind == "agent" else "user", mistake)
    if not 0 < days <= LONGEST_DAYS:
        raise intake.field_error("days", f"must be above 0 and at most {LONGEST_DAYS}.")
    if not Membership.objects.filter(workspace=workspace, user=user).exists():
        raise intake.field_error("user", f"{user.get_username()!r} is not a member of this workspace.")
    secret = secret_create()
    with transaction.atomic():
        token = ApiToken.objects.create(
            workspace=workspace,
            user=user,
            kind=kind,
            name=intake.text_checked("name", name, limit=120),
            digest=ApiToken.digest_of(secret),
            hint=secret[:HINT],
            scopes=wanted,
            expires_at=database_now() + timedelta(days=days),
        )
        after = {"scopes": wanted, "kind": kind, "expires_at": token.expires_at.isoformat()}
        _record(workspace, f"token {token.name} of {user.get_username()}", None, after, actor)
    return token, secret


def word_mistake(*, kind: str, scopes: Iterable[str], user: User, actor: str) -> str:
    """Say why ``actor`` cannot make a token of these scopes for ``user``; empty where it gives nobody else's word."""
    if kind == "agent":
        return NO_PROGRAM if PEOPLE_ONLY.intersection(scopes) else ""
    return "" if actor in {ON_SERVER, f"person:{user.get_username()}"} else THEIR_WORD


def token_revoke(*, workspace: Workspace, token: int, actor: str) -> ApiToken:
    """Revoke a token at once; again is the same answer. Raises NotFound."""
    with transaction.atomic():
        found = ApiToken.objects.select_for_update().filter(workspace=workspace, pk=token).first()
        if found is None:
            raise NotFound
        if found.revoked_at is None:
            found.revoked_at = database_now()
            found.save(update_fields=["revoked_at"])
            before = {"scopes": found.scopes}
            _record(workspace, f"token {found.name} of {found.user.get_username()}", before, None, actor)
    return found


def _locked(workspace: Workspace) -> Workspace:
    """Lock the head of its administration stream, for no longer than a lease where we stand still: many wait for it."""
    rows = Workspace.objects.select_for_update(no_key=True).annotate(stands_still=StandsStill(settings.LEASE_SECONDS))
    return rows.get(pk=workspace.pk)


def _record(workspace: Workspace, what: str, before: object, after: object, actor: str) -> None:
    event = RoleChanged(what=what, before=before, after_change=after)
    append_administration(workspace=workspace.id, events=[event], actor=actor)
