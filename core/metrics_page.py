"""``/metrics``: what an operator's Prometheus reads. On this machine, or with the token of the settings.

Figures of the whole installation are read from Postgres when they are asked for, so that any web process gives the
same; figures of processes are those of this host (core/metrics.py). A database that is away takes its figures with it
and nothing else.
"""

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse
from django.utils.module_loading import import_string
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry
from prometheus_client.core import REGISTRY, GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from core.errors import Forbidden
from core.figures import Figure, number
from core.loopback import is_from_this_machine
from core.metrics import FOLDER

SCHEME = "bearer "


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer in the text format that was asked for. Raises Forbidden."""
    if not (_token_is_right(request) or _is_from_here(request)):
        raise Forbidden("Figures are told on this machine, or with the token of HANDRAIL_METRICS_TOKEN.")
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    return HttpResponse(encode(_registry()), content_type=content_type)


def _token_is_right(request: HttpRequest) -> bool:
    given, wanted = request.headers.get("Authorization", ""), settings.HANDRAIL_METRICS_TOKEN
    if not wanted or not given.lower().startswith(SCHEME):
        return False
    return secrets.compare_digest(given[len(SCHEME) :].strip().encode(), wanted.encode())


def _is_from_here(request: HttpRequest) -> bool:
    try:
        return is_from_this_machine(request)
    except DisallowedHost:
        return False


def _registry() -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(_Installation())
    folder = os.environ.get(FOLDER)
    if folder:
        _forget_the_dead(Path(folder))
        MultiProcessCollector(registry, path=folder)  # type: ignore[no-untyped-call]
    else:
        registry.register(_Here())
    return registry


def _forget_the_dead(folder: Path) -> None:
    """Gauges end with their process; counters of processes that have ended stay counted."""
    for path in folder.glob("gauge_live*_*.db"):
        if not Path(f"/proc/{path.stem.rpartition('_')[2]}").exists() and Path("/proc/self").exists():
            with suppress(FileNotFoundError):  # another scrape was first
                path.unlink()


class _Here(Collector):
    """What this one process counts."""

    def collect(self) -> Iterable[Metric]:
        """Return the instruments of this process."""
        return REGISTRY.collect()


class _Installation(Collector):
    """What Postgres and the broker say about the whole installation."""

    def collect(self) -> Iterator[Metric]:
        """Ask each source that the settings name."""
        reached = 1.0
        for path in settings.HANDRAIL_FIGURES:
            try:
                found = list(import_string(path)())
            except (DatabaseError, InterfaceError):
                reached = 0.0
                continue
            yield from map(_family, found)
        yield _family(number("handrail_database_up", "Whether the database answered this question.", reached))


def _family(figure: Figure) -> Metric:
    family = GaugeMetricFamily(figure.name, figure.help, labels=list(figure.labels))
    for labels, value in sorted(figure.values.items()):
        family.add_metric(list(labels), value)
    return family
