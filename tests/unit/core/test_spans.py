"""What a trace says of failures: its receiver is outside of our walls, and what tools raise quotes their secrets."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from django.conf import settings
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from core import spans, tracing

TOKEN = "tok-5f3a9c1b7e2d4f60"


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    monkeypatch.setattr(spans, "_exporter", lambda name: exporter)
    monkeypatch.setattr(spans, "BatchSpanProcessor", SimpleSpanProcessor)
    monkeypatch.setattr(tracing, "_spans", spans.Spans(exporter="otlp", process="worker"))
    return exporter


def quoting() -> str:
    return f"401 for https://bank.example/pay?token={TOKEN} with {settings.SECRET_KEY}"


def told(sent: InMemorySpanExporter) -> tuple[ReadableSpan, str]:
    (span,) = sent.get_finished_spans()
    return span, span.to_json()


def test_a_reason_is_sent_masked(sent: InMemorySpanExporter):
    with tracing.span("call.act", task=uuid4(), kind="client", call="pay") as noted:
        noted.failed(quoting())
    span, whole = told(sent)
    assert span.status.description.startswith("401 for https://bank.example/pay?token=")
    assert TOKEN not in whole
    assert settings.SECRET_KEY not in whole


@pytest.mark.parametrize("of", ["a span of a task", "a request"])
def test_what_is_raised_is_sent_by_its_type_and_masked_message_without_its_stack(sent: InMemorySpanExporter, of: str):
    opened = tracing.request_span("POST", {}) if of == "a request" else tracing.span("call.verify", kind="client")
    with pytest.raises(ConnectionError), opened:
        raise ConnectionError(quoting())
    span, whole = told(sent)
    (event,) = span.events
    assert set(event.attributes or {}) == {"exception.type", "exception.message"}
    assert (event.attributes or {})["exception.type"] == "ConnectionError"
    assert span.status.description.startswith("ConnectionError: 401 for ")
    assert TOKEN not in whole
    assert settings.SECRET_KEY not in whole


def test_a_process_that_cannot_mask_sends_no_text_at_all(sent: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tracing, "_mask", [])
    with pytest.raises(ValueError, match=TOKEN), tracing.span("slice"):
        raise ValueError(TOKEN)
    assert TOKEN not in told(sent)[1]
