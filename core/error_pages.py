"""Answers with a page for what went wrong, and with a reference that finds it in the log."""

import logging
import secrets
import sys
from dataclasses import asdict

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from core.database_trouble import database_trouble
from core.failures import CSRF, DATABASE, FAILURES, Failure

PASSING = {429, 500, 503}  # what may have gone by the next time
logger = logging.getLogger("handrail.pages")


def failure_page(
    request: HttpRequest, status: int, *, failure: Failure | None = None, happened: str = "", framed: bool = True
) -> HttpResponse:
    """Render the page for a status; ``happened`` replaces the general sentence by the particular one.

    ``framed`` pages read the database for their frame; where the failure may be the database's, render without.
    """
    shown = asdict(failure or FAILURES.get(status, FAILURES[400]))
    reference = secrets.token_hex(5)
    level = logging.ERROR if status >= 500 else logging.INFO
    # With its line feeds escaped: a path must not write lines of its own.
    told = (status, reference, request.path)
    logger.log(level, "page.failed status=%s reference=%s path=%r", *told, exc_info=status == 500)
    # Asked again, what was read may answer; what was sent is not sent again by a link.
    again = request.get_full_path() if request.method in {"GET", "HEAD"} and status in PASSING else ""
    context = shown | {"status": status, "reference": reference, "happened": happened or shown["happened"]}
    context["again"] = again
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
    trouble = database_trouble(error) if error is not None else None
    if trouble is not None or isinstance(error, OperationalError | InterfaceError):
        return failure_page(request, 503, failure=DATABASE, happened=trouble or "", framed=False)
    return failure_page(request, 500, framed=False)
