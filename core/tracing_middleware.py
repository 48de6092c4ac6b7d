"""Traces each request, and binds its trace to what is logged meanwhile."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.http import HttpRequest

from core.around import Told, around, route_of
from core.tracing import request_span


@contextmanager
def _traced(request: HttpRequest) -> Iterator[Told]:
    with request_span(f"{request.method}", request.headers) as opened:

        def told(response: Any) -> None:
            code = response.status_code
            opened.note(http_request_method=str(request.method), http_response_status=code)
            if route := route_of(request):  # where none fits, the attribute is left out
                opened.note(http_route=route)
            if code >= 500:
                opened.failed(f"answered with {code}")

        yield told


requests_traced = around(_traced)
