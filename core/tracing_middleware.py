"""Traces each request, and binds its trace to what is logged meanwhile."""

from collections.abc import Callable
from inspect import iscoroutinefunction
from typing import Any

from django.http import HttpRequest
from django.utils.decorators import sync_and_async_middleware

from core.tracing import Noted, request_span


@sync_and_async_middleware
def requests_traced(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Trace the whole of what follows."""
    if iscoroutinefunction(get_response):

        async def answer_later(request: HttpRequest) -> Any:
            with request_span(f"{request.method}", request.headers) as opened:
                response = await get_response(request)
                _note(opened, request, response)
            return response

        return answer_later

    def answer(request: HttpRequest) -> Any:
        with request_span(f"{request.method}", request.headers) as opened:
            response = get_response(request)
            _note(opened, request, response)
        return response

    return answer


def _note(opened: Noted, request: HttpRequest, response: Any) -> None:
    match = getattr(request, "resolver_match", None)
    route = match.route if match is not None else ""
    opened.note(http_route=route, http_request_method=str(request.method), http_response_status=response.status_code)
    if response.status_code >= 500:
        opened.failed(f"answered with {response.status_code}")
