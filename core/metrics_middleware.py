"""Counts HTTP answers by the pattern of their address: addresses themselves would be a series each."""

import time
from collections.abc import Callable
from inspect import iscoroutinefunction
from typing import Any

from django.http import HttpRequest
from django.utils.decorators import sync_and_async_middleware

from core.metrics import answer_took

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


@sync_and_async_middleware
def answers_counted(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Measure the whole of what follows; outermost, so that refusals of other middleware count as well."""
    if iscoroutinefunction(get_response):

        async def answer_later(request: HttpRequest) -> Any:
            began = time.perf_counter()
            response = await get_response(request)
            _note(request, response, began)
            return response

        return answer_later

    def answer(request: HttpRequest) -> Any:
        began = time.perf_counter()
        response = get_response(request)
        _note(request, response, began)
        return response

    return answer


def _note(request: HttpRequest, response: Any, began: float) -> None:
    match = getattr(request, "resolver_match", None)
    route = match.route if match is not None else "none"
    method = request.method if request.method in METHODS else "other"
    answer_took(time.perf_counter() - began, method=str(method), route=route, status=response.status_code)
