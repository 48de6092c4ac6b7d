"""Middleware that does one thing before and after a request, whether the rest of the chain is async or not."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from inspect import iscoroutinefunction
from typing import Any

from django.http import HttpRequest
from django.utils.decorators import sync_and_async_middleware

Told = Callable[[Any], None]
Answer = Callable[[HttpRequest], Any]


def around(watch: Callable[[HttpRequest], AbstractContextManager[Told]]) -> Callable[[Answer], Answer]:
    """Return a middleware. ``watch`` is entered with the request; what it yields is told the response."""

    @sync_and_async_middleware
    def middleware(get_response: Answer) -> Answer:
        if iscoroutinefunction(get_response):

            async def answer_later(request: HttpRequest) -> Any:
                with watch(request) as told:
                    response = await get_response(request)
                    told(response)
                return response

            return answer_later

        def answer(request: HttpRequest) -> Any:
            with watch(request) as told:
                response = get_response(request)
                told(response)
            return response

        return answer

    return middleware


def route_of(request: HttpRequest) -> str | None:
    """The pattern of the address ('/tasks/<uuid:pk>/'), or None where none fits: addresses would be a series each."""
    match = getattr(request, "resolver_match", None)
    return f"/{match.route}" if match is not None else None
