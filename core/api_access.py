"""How the API knows its caller: a session with CSRF, or a bearer token."""

import json
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from ninja.parser import Parser
from ninja.security.base import AuthBase
from ninja.utils import check_csrf

from core.errors import Forbidden, TooLarge
from core.principal import Principal, session_principal, token_principal
from core.tokens import token_find

SCHEME = "bearer "


class SessionOrToken(AuthBase):
    """``Authorization: Bearer ...``, or the session of a signed-in person with the CSRF mark for what changes."""

    openapi_type = "http"
    openapi_scheme = "bearer"
    openapi_description = "A token of this workspace, or the session of the browser that shows this page."

    def __call__(self, request: HttpRequest) -> Principal:
        """Return the caller. Raises Unauthenticated, Forbidden (CSRF), NotFound (workspace), TooLarge."""
        _body_checked(request)
        slug = request.GET.get("workspace", "")
        header = request.headers.get("Authorization", "")
        if header.lower().startswith(SCHEME):
            return token_principal(token_find(secret=header[len(SCHEME) :].strip()), slug=slug)
        principal = session_principal(request, slug=slug)
        if check_csrf(request) is not None:
            raise Forbidden(
                "The request came with a session but without its CSRF mark (header X-CSRFToken); nothing was changed."
            )
        return principal


def _body_checked(request: HttpRequest) -> None:
    """Refuse a large body that did not announce its length (chunked)."""
    most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0
    if request.method not in {"GET", "HEAD"} and len(request.body) > most:
        raise TooLarge(f"At most {most:,} bytes are taken; nothing was changed.")


class StrictParser(Parser):
    """JSON as the record can keep it: no double names, no NaN or Infinity."""

    def parse_body(self, request: HttpRequest) -> Any:
        """Parse the body. Raises ValueError, which is answered with 400."""
        return json.loads(request.body, object_pairs_hook=_object, parse_constant=_constant)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a name occurs twice in one object")
    return made


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
