"""The pages for what went wrong: what happened, what still holds, what to do, and a reference to quote."""

import logging
import secrets
import sys
from dataclasses import asdict, dataclass

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

logger = logging.getLogger("handrail.pages")

_RUNNING = "Tasks that are running go on; nothing that was recorded is lost."
_UNCHANGED = "Nothing was changed."


@dataclass(frozen=True)
class Failure:
    """What a page says about a failure: one sentence each."""

    title: str
    happened: str
    holds: str
    todo: str


FAILURES = {
    400: Failure(
        "This request could not be read",
        "The address or the form that arrived is malformed.",
        _UNCHANGED,
        "Go back, reload the page and try again.",
    ),
    403: Failure(
        "You may not do this",
        "Your account does not have the right that this page or action needs.",
        _UNCHANGED,
        "Ask the administrator of your workspace for the right, or sign in as somebody who has it.",
    ),
    404: Failure(
        "There is nothing at this address",
        "The address is wrong, or what was here belongs to a workspace that you cannot see.",
        _UNCHANGED,
        "Check the address, or start from the list of tasks.",
    ),
    409: Failure(
        "Somebody or something was faster",
        "What you acted on has changed since your page was made, so your action was not carried out.",
        "The earlier change stands; nothing happened twice.",
        "Go back, reload the page and look at the present state before you decide again.",
    ),
    500: Failure(
        "This page failed",
        "An error in Handrail kept this page from being made.",
        _RUNNING,
        "Try again; if it fails again, give the reference to whoever runs Handrail.",
    ),
    503: Failure(
        "The database does not answer",
        "Handrail could not reach its record, so this page cannot be shown.",
        "Nothing that was recorded is lost, and tasks continue by themselves when the database is back.",
        "Wait a few seconds and try again.",
    ),
}
CSRF = Failure(
    "The form has expired",
    "The form was sent without the mark that proves that it came from your own page; most often it was open too long.",
    _UNCHANGED,
    "Go back, reload the page and send the form again. Cookies must be allowed for this site.",
)


def failure_page(
    request: HttpRequest, status: int, *, failure: Failure | None = None, happened: str = "", framed: bool = True
) -> HttpResponse:
    """Render the page for a status; ``happened`` replaces the general sentence by the particular one.

    ``framed`` pages read the database for their frame; where the failure may be the database's, render without.
    """
    shown = asdict(failure or FAILURES[status])
    reference = secrets.token_hex(5)
    logger.warning("page.failed status=%s reference=%s path=%s", status, reference, request.path)
    context = shown | {"status": status, "reference": reference, "happened": happened or shown["happened"]}
    body = render_to_string("errors/failure.html", context, request if framed else None)
    return HttpResponse(body, status=status)


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """400. The host name itself may be what is wrong, so the frame is left out."""
    return failure_page(request, 400, framed=False)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """403, with the sentence that the refusal carries, if it has one."""
    return failure_page(request, 403, happened=str(exception or ""))


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403 for a form without its CSRF mark."""
    return failure_page(request, 403, failure=CSRF)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """404; the same for what does not exist and what belongs to somebody else."""
    return failure_page(request, 404)


def server_error(request: HttpRequest) -> HttpResponse:
    """500, or 503 where the database is what failed."""
    error = sys.exception()
    status = 503 if isinstance(error, OperationalError | InterfaceError) else 500
    return failure_page(request, status, framed=False)
