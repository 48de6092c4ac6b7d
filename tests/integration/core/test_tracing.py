"""One trace a task, across web, workers and tools; sent only where the environment asks for it."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

import tests.talkative  # noqa: F401 - declares the agent
from core.access import Right
from core.tracing import tracing_wanted
from tasks_app.services.access import token_create
from tests.crew import Crew
from tests.integration.core.test_web_process import TASKS, web
from tests.people import people_create
from tests.processes import ROOT, wait_for

CALLER = "4bf92f3577b34da6a3ce929d0e0e4736"


@dataclass
class Receiver:
    """An OTLP receiver: keeps the spans that were sent to it."""

    port: int = 0
    spans: list[Any] = field(default_factory=list)
    processes: set[str] = field(default_factory=set)

    def take(self, body: bytes) -> None:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            told = {one.key: one.value.string_value for one in resource.resource.attributes}
            self.processes.add(told["handrail.process"])
            self.spans += [span for scope in resource.scope_spans for span in scope.spans]

    def of(self, trace: str, name: str) -> list[Any]:
        return [span for span in list(self.spans) if span.trace_id.hex() == trace and span.name == name]


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/traces"
            receiver.take(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()


def attributes(span: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, str(one.value.WhichOneof("value"))) for one in span.attributes}


@pytest.mark.timeout(300)
@pytest.mark.django_db(transaction=True)
def test_the_trace_of_a_task_has_its_id_and_leads_from_request_to_tool(
    child_environment: dict[str, str], tmp_path: Path
) -> None:
    people = people_create()
    rights = [Right.TASKS_READ, Right.TASKS_CREATE]
    _, secret = token_create(
        workspace=people.workspace, user=people.rhea, name="t", scopes=rights, days=1, actor="system"
    )
    with receiving() as receiver, ExitStack() as stack:
        sent = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{receiver.port}", "OTEL_BSP_SCHEDULE_DELAY": "100"}
        environment = child_environment | sent | {"HANDRAIL_LOGS": "json"}
        crew = Crew(stack, environment, tmp_path, people)
        crew.worker()
        with web(environment, tmp_path) as client:
            headers = {"Authorization": f"Bearer {secret}", "traceparent": f"00-{CALLER}-00f067aa0ba902b7-01"}
            body = {"agent": "test.writer", "intent": {}}
            task = UUID(client.post(TASKS, json=body, headers=headers).json()["id"])
            for name in ("task.create", "slice", "agent.decide", "call.act"):
                wait_for(lambda name=name: receiver.of(task.hex, name), what=name)
            (request,) = wait_for(lambda: receiver.of(CALLER, "POST"), what="the request's span")
        (acted,) = receiver.of(task.hex, "call.act")
        said = attributes(acted)
        assert (said["handrail.call"], said["handrail.tool"]) == ("first", "note.write")
        assert (said["handrail.task_id"], said["handrail.outcome"]) == (str(task), "ok")
        slices = wait_for(lambda: receiver.of(task.hex, "slice"))
        assert acted.parent_span_id in {span.span_id for span in slices}
        (created,) = receiver.of(task.hex, "task.create")
        assert created.links[0].trace_id.hex() == CALLER
        assert attributes(request)["http.route"] == "/api/v1/tasks"
        assert {"web", "worker"} <= receiver.processes


@pytest.mark.timeout(300)
@pytest.mark.django_db(transaction=True)
def test_lines_of_a_worker_are_json_with_the_ids_of_task_and_call(
    child_environment: dict[str, str], tmp_path: Path
) -> None:
    with ExitStack() as stack:
        crew = Crew(stack, child_environment | {"HANDRAIL_LOGS": "json"}, tmp_path, people_create())
        crew.environment["HANDRAIL_MODULES"] += ",tests.talkative"
        crew.worker()
        task = crew.task(agent="talk.once")
        (log,) = tmp_path.glob("worker-*.log")
        spoken = wait_for(lambda: [line for line in log.read_text().splitlines() if "said aloud" in line])
        line = json.loads(spoken[0])
        assert (line["task_id"], line["call"], line["attempt"]) == (str(task.pk), "talk", 1)
        assert (line["epoch"], line["level"], line["logger"]) == (1, "warning", "talkative")
        ready = next(one for one in log.read_text().splitlines() if " ready." in one)
        assert json.loads(ready)["logger"].startswith("celery")


@pytest.mark.parametrize(
    ("environment", "exporter"),
    [
        ({}, ""),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}, "otlp"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://collector:4318/v1/traces"}, "otlp"),
        ({"OTEL_TRACES_EXPORTER": "console"}, "console"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318", "OTEL_TRACES_EXPORTER": "none"}, ""),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318", "OTEL_SDK_DISABLED": "true"}, ""),
    ],
)
def test_the_environment_alone_decides_whether_traces_are_sent(environment: dict[str, str], exporter: str) -> None:
    assert tracing_wanted(environment) == exporter


def test_without_a_receiver_nothing_of_it_is_loaded() -> None:
    look = "import sys, core.asgi; sys.exit(any(name.startswith('opentelemetry.sdk') for name in sys.modules))"
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "core.settings"}
    assert subprocess.run([sys.executable, "-c", look], env=environment, cwd=ROOT).returncode == 0
