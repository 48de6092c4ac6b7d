"""Sees to it that no error leaves without its answer: problem details for the API, a page for people."""

from django.conf import settings
from django.db import DataError, IntegrityError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

from core.error_pages import failure_page
from core.errors import HandrailError, TooLarge
from core.problem import MEDIA_TYPE, problem_answer, problem_of, problem_plain, problem_response

API = "/api/"


class ProblemMiddleware(MiddlewareMixin):
    """Outermost but for the security headers, so that it sees what other middleware refuses."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        """Refuse a body that announces itself as too large before it is read."""
        length = request.META.get("CONTENT_LENGTH") or "0"
        most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0
        if request.path.startswith(API) and length.isdigit() and int(length) > most:
            return problem_answer(request, TooLarge(f"At most {most:,} bytes are taken; nothing was changed."))
        return None

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponseBase | None:
        """Answer what a view raised, by the one table; Django's own handlers keep what is not of ours on pages."""
        if request.path.startswith(API):
            return problem_answer(request, error)
        problem = problem_of(error)
        if isinstance(error, HandrailError) or (isinstance(error, IntegrityError | DataError) and problem.status < 500):
            return failure_page(request, problem.status, happened=problem.detail, framed=problem.status < 500)
        return None

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Turn an error that the framework made itself (404, 405, 400, 500) into problem details on the API."""
        if not request.path.startswith(API) or response.status_code < 400:
            return response
        if response.get("Content-Type", "").startswith(MEDIA_TYPE):
            return response
        made = problem_response(request, problem_plain(response.status_code))
        if "Allow" in response:
            made["Allow"] = response["Allow"]
        return made
