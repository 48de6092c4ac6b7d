"""Who looks at a page of approvals, and from which shelf they came."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from django.http import HttpRequest

from approvals_app.live.desk_feed import kind_of
from approvals_app.models import ApprovalRequest
from approvals_app.selectors.desk import Kind, Tab
from approvals_app.selectors.places import Place, place_named
from core.access import Right
from core.errors import NotFound
from core.principal import Principal, session_principal


def card_principal(request: HttpRequest, approval: UUID) -> Principal:
    """Return the person in the workspace of the approval. Raises NotFound where they have no business (case-25)."""
    slug = ApprovalRequest.objects.filter(pk=approval).values_list("workspace__slug", flat=True).first()
    if slug is None:
        raise NotFound
    principal = session_principal(request, slug=slug)
    if not principal.may(Right.APPROVALS_READ):
        raise NotFound
    return principal


def tab_of(given: Mapping[str, str]) -> Tab:
    """Return the shelf that an address names, the person's own where it names none. Raises NotFound."""
    try:
        return Tab(given.get("shelf", Tab.MINE))
    except ValueError:
        raise NotFound from None


def narrowed(request: HttpRequest) -> Kind | None:
    """Return the group that an address names, or None."""
    return kind_of({name: str(value) for name, value in request.GET.items()})


def place(request: HttpRequest, name: str, workspaces: Sequence[UUID]) -> Place | None:
    """Return the place on a shelf from the address; None where there is none. Raises NotFound for what is no place."""
    try:
        return place_named(request.GET[name], workspaces=workspaces) if name in request.GET else None
    except ValueError:
        raise NotFound from None
