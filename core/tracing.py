"""Traces for OpenTelemetry, where the environment asks for them; otherwise nothing is imported and nothing costs.

A task's trace has the task's id as its trace id. So no message, lease or event has to carry it, a worker that takes
over continues the same trace, and whoever has a task's id has its trace. The request that created a task is another
trace, its own or the caller's; a link leads from one to the other.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

if TYPE_CHECKING:
    from core.spans import Spans

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
EXPORTERS = "OTEL_TRACES_EXPORTER"  # "otlp", "console" or "none"; an endpoint alone means "otlp"
DISABLED = "OTEL_SDK_DISABLED"
Value = str | int | bool
_spans: "Spans | None" = None
_mask: list[Callable[[str], str]] = []  # at most one


class Noted(Protocol):
    """A span that is under way."""

    def note(self, **attributes: Value) -> None: ...  # noqa: D102
    def failed(self, reason: str) -> None: ...  # noqa: D102


class _Nothing:
    """What is noted where nothing is traced."""

    def note(self, **attributes: Value) -> None:
        """Leave it aside."""

    def failed(self, reason: str) -> None:
        """Leave it aside."""


NOTHING = _Nothing()


def tracing_wanted(environment: Mapping[str, str]) -> str:
    """Return the exporter that the environment asks for; empty for none. Pure."""
    if environment.get(DISABLED, "").lower() == "true":
        return ""
    given = environment.get(EXPORTERS, "otlp" if any(environment.get(name) for name in ENDPOINTS) else "none")
    return "" if given == "none" else given


def tracing_begin(process: str) -> None:
    """Begin in this process and in those that it forks. ``process``: web, worker or sweeper."""
    global _spans
    exporter = tracing_wanted(os.environ)
    if exporter and _spans is None:
        from core.spans import Spans

        _spans = Spans(exporter=exporter, process=process)


def traces_mask(mask: Callable[[str], str]) -> None:
    """Let ``mask`` change every text of a tool or an exception that this process sends from now on."""
    _mask[:] = [mask]


def masked(text: str) -> str:
    """Return a text as it may be sent; nothing of it where this process cannot mask."""
    return _mask[0](text) if _mask else ""


@contextmanager
def span(name: str, *, task: UUID | None = None, kind: str = "internal", **attributes: Value) -> Iterator[Noted]:
    """Trace a block; with ``task`` in the trace of that task. ``kind``: internal, server or client."""
    if _spans is None:
        yield NOTHING
        return
    with _spans.span(name, task=task, kind=kind, attributes=attributes) as opened:
        yield opened


@contextmanager
def request_span(name: str, headers: Mapping[str, str]) -> Iterator[Noted]:
    """Trace one HTTP request, as part of the caller's trace if it sent one (W3C Trace Context)."""
    if _spans is None:
        yield NOTHING
        return
    with _spans.request(name, headers) as opened:
        yield opened


def trace_headers() -> dict[str, str]:
    """Return the headers that continue the present trace elsewhere; none where nothing is traced."""
    return _spans.headers() if _spans is not None else {}


def trace_id() -> str:
    """Return the id of the present trace as hex; empty where nothing is traced."""
    return _spans.trace_id() if _spans is not None else ""
