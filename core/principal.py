"""Who asks: a signed-in person or a token, in one workspace, with their rights there."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.http import HttpRequest

from core.access import PEOPLE_ONLY, Right, Role, may
from core.errors import Forbidden, NotFound, Unauthenticated
from core.models import ApiToken, Membership, Workspace
from core.step_up import stepped_up_at

SESSION_KEY = "workspace"


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """One caller in one workspace. A token's rights are its scopes, as far as its user's roles carry them.

    ``scopes`` is None for a signed-in person. ``token`` is the token's name, ``agent`` whether it is a program's.
    """

    user: User
    workspace: Workspace
    roles: frozenset[Role]
    scopes: frozenset[Right] | None = None
    token: str = ""
    agent: bool = False
    stepped_up_at: datetime | None = None  # when this session last showed a second factor
    many: bool = False  # this person belongs to other workspaces too

    @property
    def actor(self) -> str:
        """The author's name in the record."""
        return f"agent-token:{self.token}" if self.agent else f"person:{self.user.get_username()}"

    @property
    def kept(self) -> dict[str, str]:
        """What every address of this workspace names, for somebody who has others; the address is all that says it."""
        return {"workspace": self.workspace.slug} if self.many else {}

    def may(self, right: Right) -> bool:
        """Tell whether this caller has ``right``; a program's token never gives a person's word (rule 6)."""
        if self.agent and right in PEOPLE_ONLY:
            return False
        return may(self.roles, right) and (self.scopes is None or right in self.scopes)

    def require(self, right: Right) -> "Principal":
        """Return self. Raises Forbidden, naming the right that is missing."""
        if not self.may(right):
            raise Forbidden(f"This needs the right {right.value!r}, which you do not have here.", right=right.value)
        return self

    def require_person(self, what: str) -> "Principal":
        """Return self. Raises Forbidden for the token of a program; ``what`` it may not do, as in "lifts no stop"."""
        if self.agent:
            raise Forbidden(
                f"The token of an agent {what}; a person does, or a person's own token. Nothing was changed."
            )
        return self


def session_principal(request: HttpRequest, *, slug: str = "") -> Principal:
    """Return the signed-in person in a workspace: ``slug``, the session's, or the first of theirs.

    Raises Unauthenticated; NotFound for a workspace they do not belong to; Forbidden where they belong to none.
    """
    user = request.user
    if not isinstance(user, User) or not user.is_active:
        raise Unauthenticated
    found = list(Membership.objects.filter(user=user).select_related("workspace").order_by("workspace__slug"))
    if not found:
        raise Forbidden("You belong to no workspace yet; ask an administrator to add you to one.")
    remembered = str(request.session.get(SESSION_KEY, ""))
    slugs = {membership.workspace.slug for membership in found}
    if slug and slug not in slugs:
        raise NotFound
    chosen = slug or (remembered if remembered in slugs else found[0].workspace.slug)
    mine = [membership for membership in found if membership.workspace.slug == chosen]
    return Principal(
        user=user,
        workspace=mine[0].workspace,
        roles=frozenset(Role(one.role) for one in mine),
        stepped_up_at=stepped_up_at(request),
        many=len(slugs) > 1,
    )


def token_principal(token: ApiToken, *, slug: str = "") -> Principal:
    """Return the caller that a valid token stands for. Raises NotFound for another workspace than the token's."""
    if slug and slug != token.workspace.slug:
        raise NotFound
    roles = Membership.objects.filter(user=token.user, workspace=token.workspace).values_list("role", flat=True)
    return Principal(
        user=token.user,
        workspace=token.workspace,
        roles=frozenset(map(Role, roles)),
        scopes=frozenset(right for right in Right if right.value in token.scopes),
        token=token.name,
        agent=token.kind == "agent",
    )


def caller(request: HttpRequest, right: Right) -> Principal:
    """Return the API's caller. Raises Forbidden without ``right``."""
    principal: Principal = request.auth  # type: ignore[attr-defined]  # set by the API's authentication
    return principal.require(right)
