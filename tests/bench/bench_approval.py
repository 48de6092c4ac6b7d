"""From the click on Approve to ``call.attempted``: a post over HTTP, a web process, a worker with default settings."""

import http.client
import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from core.port import free
from tests.bench.place import _start, approver, processes, spread, task_new, wait_until

CLICKS = 60
QUIET = 0.3  # seconds in which nobody asks the database whether it is done: that would cost what is measured


def figures(folder: Path) -> Iterator[dict[str, Any]]:
    """Both moments are clocks of this machine: the click's before the post is sent, the attempt's the database's."""
    with ExitStack() as stack:
        stack.enter_context(processes(folder))
        port = free(0)
        web = ["-m", "uvicorn", "core.asgi:application", "--port", str(port), "--log-level", "warning"]
        _start(stack, folder / "web.log", *web)
        token = _token()
        wait_until(lambda: _answers(port))
        taken = [_click(port, token) for _ in range(CLICKS)][5:]  # the first warm the processes
    yield {
        "figure": "from the click on Approve to call.attempted",
        "unit": "ms",
        **spread([one * 1000 for one in taken], 1),
        "goal": "p50 < 40, p95 < 120",
    }


def _click(port: int, token: str) -> float:
    from approvals_app.models import ApprovalRequest
    from tasks_app.models import Event, Task

    task = task_new("bench.asker")
    request = wait_until(lambda: ApprovalRequest.objects.filter(task=task, status="requested").first())
    wait_until(lambda: Task.objects.filter(pk=task.pk, status="waiting", lease_nonce=None).exists())
    body = json.dumps({"decision": "approved", "digest": request.digest})
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    clicked = time.time()
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("POST", f"/api/v1/approvals/{request.pk}/decide", body, headers)
    answer = connection.getresponse()
    said = answer.read()
    connection.close()
    assert answer.status == 200, said
    time.sleep(QUIET)
    attempted = wait_until(lambda: Event.objects.filter(stream=task.pk, kind="call.attempted").first())
    wait_until(lambda: Task.objects.filter(pk=task.pk, status="completed").exists())
    return float(attempted.at.timestamp() - clicked)


def _token() -> str:
    from core.access import Right
    from tasks_app.services.access import token_create

    who = approver()
    scopes = [Right.APPROVALS_READ, Right.APPROVALS_DECIDE]
    return token_create(workspace=who.workspace, user=who.user, name="bench", scopes=scopes, days=1, actor="system")[1]


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", "/sign-in/")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()
