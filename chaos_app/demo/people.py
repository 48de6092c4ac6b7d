"""The people of the demo, and what they sign in with."""

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import close_old_connections, connections

from core.access import Right
from core.one_time import sign_in_link_create
from core.seed import Seeded, demo_seed
from tasks_app.services.access import token_create

STARTS = [Right.TASKS_CREATE, Right.TASKS_READ]
DECIDES = [Right.TASKS_READ, Right.TASKS_SETTLE, Right.APPROVALS_READ, Right.APPROVALS_DECIDE]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """How to get in: tokens for the API (rhea starts, silas decides), and links that sign a person in once."""

    starts: str
    decides: str
    links: dict[str, str]


def people_enter(url: str) -> Entry:
    """Create workspace and people where they are missing; return fresh tokens and links. From any thread."""
    close_old_connections()
    try:
        seeded = demo_seed()
        links = {user.get_username(): sign_in_link_create(user=user, base_url=url) for user in _people(seeded)}
        return Entry(starts=_token(seeded, "rhea", STARTS), decides=_token(seeded, "silas", DECIDES), links=links)
    finally:
        connections.close_all()


def _people(seeded: Seeded) -> tuple[User, ...]:
    return seeded.silas, seeded.noor, seeded.rhea


def _token(seeded: Seeded, name: str, rights: list[Right]) -> str:
    user = {"rhea": seeded.rhea, "silas": seeded.silas}[name]
    _, secret = token_create(
        workspace=seeded.workspace, user=user, name=f"demo of {name}", scopes=rights, days=1, actor="system"
    )
    return secret
