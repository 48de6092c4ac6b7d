"""Counts HTTP answers by the pattern of their address."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.http import HttpRequest

from core.around import Told, around, route_of
from core.metrics import answer_took

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


@contextmanager
def _counted(request: HttpRequest) -> Iterator[Told]:
    began = time.perf_counter()

    def told(response: Any) -> None:
        method = str(request.method) if request.method in METHODS else "other"
        route = route_of(request) or "none"
        answer_took(time.perf_counter() - began, method=method, route=route, status=response.status_code)

    yield told


# Measures the whole of what follows; outermost, so that refusals of other middleware count as well.
answers_counted = around(_counted)
