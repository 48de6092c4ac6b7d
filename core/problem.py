"""The one table from errors to HTTP answers, for pages and API alike (RFC 9457)."""

import logging
import secrets
from dataclasses import dataclass, field
from typing import Any

import psycopg
from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import DataError, IntegrityError, InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, UnreadablePostError

from core.database_trouble import database_trouble
from core.errors import Conflict, Forbidden, HandrailError, InvalidInput, NotFound, TooLarge, Unauthenticated

log = logging.getLogger("handrail.problem")

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER = 2  # seconds, while the database is away

# What a broken database constraint means to a person, by the constraint's name.
CONSTRAINTS: dict[str, HandrailError] = {
    "request_key_once": Conflict("This request key is being used by another request; repeat yours."),
    "membership_once": Conflict("This person has that role here already."),
    "membership_role_known": InvalidInput("There is no such role."),
    "call_name_once": Conflict("A call of this name exists in this task; a name stands for an effect, once."),
    "call_place_once": Conflict("Another call has just been put in this place; look at the task and try again."),
    "call_business_key_once": Conflict("Another call holds the same business key: it would be the same act."),
    "approval_live_once": Conflict("This call has been asked for already; there is one request a call."),
    "stop_once": Conflict("This stop is set already."),
    "stop_scope_fits": InvalidInput("A stop of an agent or a tool names it; a stop of everything names nothing."),
    "core_workspace_slug_key": Conflict("There is a workspace of this name already."),
}

# Statuses that are made by the framework and carry no error of ours.
PLAIN: dict[int, tuple[str, str]] = {
    400: ("bad-request", "The request could not be read; nothing was changed."),
    401: ("unauthenticated", "Sign in, or send a valid bearer token."),
    403: ("forbidden", "You do not have the right to do this; nothing was changed."),
    404: ("not-found", "There is no such thing here, or you may not see it."),
    405: ("method-not-allowed", "This address does not take that method; the Allow header lists those it takes."),
    413: ("too-large", "What was sent is too large; nothing was changed."),
    429: ("too-many", "Too many requests; wait and try again."),
    500: ("failed", "An error in Handrail kept this from being done. Tasks go on; the log has the reference."),
    503: ("unavailable", "The database does not answer. Nothing that was recorded is lost; try again."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One answer to something that went wrong."""

    status: int
    code: str
    title: str
    detail: str
    more: dict[str, Any] = field(default_factory=dict)
    retry_after: int | None = None


def problem_of(error: BaseException) -> Problem:
    """Return the answer to an error; what is unknown is a 500 that says nothing of the inside."""
    known = _domain(error)
    if known is not None:
        title = (type(known).__doc__ or known.detail).strip().split("\n")[0]
        retry = RETRY_AFTER if known.status == 503 else None
        return Problem(
            status=known.status, code=known.code, title=title, detail=known.detail, more=known.fields, retry_after=retry
        )
    trouble = database_trouble(error)
    if trouble is not None:
        return problem_plain(503, detail=f"{trouble} Nothing that was recorded is lost; try again.")
    return problem_plain(_status(error))


def problem_plain(status: int, *, detail: str = "") -> Problem:
    """Return the answer for a bare status."""
    code, title = PLAIN.get(status) or PLAIN[500 if status >= 500 else 400]
    more = {"reference": secrets.token_hex(5)} if status == 500 else {}
    retry = RETRY_AFTER if status == 503 else None
    return Problem(status=status, code=code, title=title, detail=detail or title, more=more, retry_after=retry)


def _domain(error: BaseException) -> HandrailError | None:
    match error:
        case HandrailError():
            return error
        case IntegrityError() if (name := constraint_of(error)) in CONSTRAINTS:
            return CONSTRAINTS[name]
        case Http404():
            return NotFound()
        case PermissionDenied():
            return Forbidden(str(error))
        case RequestDataTooBig():
            return TooLarge()
        case DataError():
            return InvalidInput("What was sent holds characters or numbers that cannot be kept; nothing was changed.")
    return None


def _status(error: BaseException) -> int:
    if isinstance(error, OperationalError | InterfaceError | psycopg.OperationalError | psycopg.InterfaceError):
        return 503
    if isinstance(error, BadRequest | SuspiciousOperation | UnreadablePostError):
        return 400
    return 500


def constraint_of(error: BaseException) -> str:
    """Return the name of the database constraint that an IntegrityError broke, or an empty text."""
    diagnosis = getattr(error.__cause__, "diag", None)
    return str(getattr(diagnosis, "constraint_name", None) or "")


def problem_response(request: HttpRequest, problem: Problem) -> HttpResponse:
    """Write a problem as problem details."""
    body = {
        "type": f"urn:handrail:problem:{problem.code}",
        "title": problem.title,
        "status": problem.status,
        "detail": problem.detail,
        "instance": request.path,
        "code": problem.code,
    }
    response = JsonResponse(problem.more | body, status=problem.status, content_type=MEDIA_TYPE)
    if problem.retry_after is not None:
        response["Retry-After"] = str(problem.retry_after)
    if problem.status == Unauthenticated.status:
        response["WWW-Authenticate"] = 'Bearer realm="handrail"'
    return response


def problem_answer(request: HttpRequest, error: BaseException) -> HttpResponse:
    """Answer an error with problem details; one that is a fault of ours is logged with its reference."""
    problem = problem_of(error)
    if problem.status >= 500:
        # What is away is named by its sentence; only a fault of ours needs its trace.
        trace = error if problem.status == 500 else None
        log.error("request.failed path=%r %s %s", request.path, problem.detail, problem.more, exc_info=trace)
    return problem_response(request, problem)
