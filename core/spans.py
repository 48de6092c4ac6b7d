"""The tracer itself; imported only where traces are wanted (core/tracing.py)."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from uuid import UUID

from django.core.exceptions import ImproperlyConfigured
from opentelemetry import propagate, trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SpanExporter
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

from core.tracing import masked

PREFIX = "handrail."
LONGEST = 200  # characters of a reason or a message
PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_task: ContextVar[int | None] = ContextVar("trace_of_task", default=None)


class _TaskIds(RandomIdGenerator):
    """A root span that belongs to a task gets the task's id as its trace id (sampling then agrees everywhere)."""

    def generate_trace_id(self) -> int:
        """Return the task's id, or a random one."""
        return _task.get() or super().generate_trace_id()


@dataclass(frozen=True, slots=True)
class Opened:
    """One span that is under way."""

    span: trace.Span

    def note(self, **attributes: str | int | bool) -> None:
        """Add attributes; those of our own vocabulary get its prefix."""
        self.span.set_attributes({_named(name): value for name, value in attributes.items()})

    def failed(self, reason: str) -> None:
        """Say that what this span stands for did not go well. The reason is a tool's own, so it is masked."""
        self.span.set_status(trace.StatusCode.ERROR, masked(reason)[:LONGEST])


class Spans:
    """Opens spans and sends them in the background; a receiver that is away costs spans and nothing else."""

    def __init__(self, *, exporter: str, process: str) -> None:
        given = {SERVICE_NAME: os.environ.get("OTEL_SERVICE_NAME", "handrail"), f"{PREFIX}process": process}
        provider = TracerProvider(resource=Resource.create(given), id_generator=_TaskIds())
        provider.add_span_processor(BatchSpanProcessor(_exporter(exporter)))
        self._tracer = provider.get_tracer("handrail")

    @contextmanager
    def span(
        self, name: str, *, task: UUID | None, kind: str, attributes: Mapping[str, str | int | bool]
    ) -> Iterator[Opened]:
        """Open a span below the present one; as a root of the task's own trace if that is another, with a link."""
        here = trace.get_current_span().get_span_context()
        apart = task is not None and here.trace_id != task.int
        links = [trace.Link(here)] if apart and here.is_valid else []
        told = {_named(key): value for key, value in attributes.items()}
        if task is not None:
            told[f"{PREFIX}task_id"] = str(task)
        token = _task.set(task.int if task is not None and apart else None)
        try:
            opened = self._tracer.start_span(
                name,
                context=Context() if apart else None,
                kind=trace.SpanKind[kind.upper()],
                attributes=told,
                links=links,
            )
        finally:
            _task.reset(token)
        with _within(opened):
            yield Opened(opened)

    @contextmanager
    def request(self, name: str, headers: Mapping[str, str]) -> Iterator[Opened]:
        """Open the span of one request, below the caller's if it sent one."""
        caller = propagate.extract({key.lower(): value for key, value in headers.items()}, context=Context())
        opened = self._tracer.start_span(name, context=caller, kind=trace.SpanKind.SERVER)
        with _within(opened):
            yield Opened(opened)

    def headers(self) -> dict[str, str]:
        """Return the headers that continue the present trace."""
        carrier: dict[str, str] = {}
        propagate.inject(carrier)
        return carrier

    def trace_id(self) -> str:
        """Return the id of the present trace; empty outside of one."""
        here = trace.get_current_span().get_span_context()
        return trace.format_trace_id(here.trace_id) if here.is_valid else ""


@contextmanager
def _within(opened: trace.Span) -> Iterator[None]:
    """Note what is raised by its type and its masked message; a stack trace quotes addresses with their tokens."""
    with trace.use_span(opened, end_on_exit=True, record_exception=False, set_status_on_exception=False):
        try:
            yield
        except Exception as error:
            kind, said = type(error).__name__, masked(str(error))[:LONGEST]
            opened.add_event("exception", {"exception.type": kind, "exception.message": said})
            opened.set_status(trace.StatusCode.ERROR, f"{kind}: {said}")
            raise


def _named(name: str) -> str:
    """Return an attribute's name: ``http_route`` is OpenTelemetry's ``http.route``, the rest is our own."""
    return name.replace("_", ".", 1) if name.startswith("http_") else PREFIX + name


def _exporter(name: str) -> SpanExporter:
    if name == "console":
        return ConsoleSpanExporter()
    if name != "otlp":
        raise ImproperlyConfigured(f"OTEL_TRACES_EXPORTER is {name!r}; there are otlp, console and none.")
    spoken = next((os.environ[key] for key in PROTOCOLS if os.environ.get(key)), "http/protobuf")
    if spoken != "http/protobuf":
        raise ImproperlyConfigured(f"Traces are sent as http/protobuf, not as {spoken!r}; change {PROTOCOLS[1]}.")
    return OTLPSpanExporter()
