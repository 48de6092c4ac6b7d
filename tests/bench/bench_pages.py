"""Server time of the list and the timeline over 10,000 tasks and 1,000,000 events; one task has 100,000 of them.

With a Chromium also: when it first paints the timeline of 100,000 events, over a web process as it is run.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.bench.place import session, spread, task_new, web_process

TASKS, EVENTS_EACH, LONG = 10_000, 90, 100_000
ROUNDS = 60
PAINTS = 11  # the first loads templates
PAINT = """() => new Promise((done) => new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (one.name === "first-contentful-paint") done(one.startTime);
}).observe({ type: "paint", buffered: true }))"""
# Rows as a year leaves them: most tasks over, a few of each other status; digests that no page reads are not chained.
FILL_TASKS = """
INSERT INTO tasks_app_task (workspace_id, owner_id, agent, agent_version, code_digest, title, intent, done_when, labels,
    is_copy, budget, created_at, head_seq, head_digest, status, signals, child_tasks, spent, step, bad_decisions,
    checkpoint_seq, checkpoint_step, state_seq, losses, loss_place, one_by_one, ended_at, lease_holder, lease_epoch)
SELECT workspace_id, owner_id, 'agent.' || n %% 7, 1, '', 'Rotate the key of service ' || n, '{}', '[]',
    '{"team": "quay"}', false, '{}', now() - n * interval '1 minute', %s, sha256('x'),
    (ARRAY['completed','completed','completed','failed','paused','waiting','cancelled'])[1 + n %% 7], '[]', '{}', '{}',
    9, 0, 0, 0, 0, 0, '', false,
    CASE WHEN n %% 7 IN (4, 5) THEN NULL ELSE now() - n * interval '1 minute' END, '', 1
FROM tasks_app_task, generate_series(1, %s) AS n WHERE id = %s
"""
# The kinds of a step, in turn, with a worker change every thousandth event.
FILL_EVENTS = """
INSERT INTO tasks_app_event (stream, seq, kind, data, actor, epoch, at, digest)
SELECT t.id, n,
    CASE WHEN n %% 1000 = 998 THEN 'slice.lost' WHEN n %% 1000 = 999 THEN 'slice.claimed' ELSE
        (ARRAY['step.decided','call.intended','call.attempted','call.outcome','call.verified','checkpoint.advanced']
        )[1 + n %% 6] END,
    jsonb_build_object('name', 'call-' || n / 6, 'step', n / 6, 'attempt', 1, 'outcome', 'ok', 'does', 'call',
        'tool', 'ticket.open', 'worker', 'w-' || n %% 3, 'lost_epoch', n / 1000, 'seen', 'process gone',
        'result', repeat('word ', 20)),
    'worker:w-1', 1 + n / 1000, t.created_at + n * interval '1 second', sha256('x')
FROM tasks_app_task t, generate_series(2, %s) AS n WHERE {which}
"""


def figures(folder: Path) -> Iterator[dict[str, Any]]:
    """Make the rows, then ask for each page again and again, as a signed-in person."""
    long = _fill()
    get = _client()
    middle = LONG // 2
    pages = {
        "list": "/tasks/",
        "list, a status": "/tasks/?status=paused",
        "list, a text": "/tasks/?text=service+4711",
        "timeline, 91 events": f"/tasks/{_short()}/",
        "timeline, 100,000 events, the end": f"/tasks/{long}/",
        "timeline, 100,000 events, the middle": f"/tasks/{long}/?at={middle}",
        "timeline, 100,000 events, one event": f"/tasks/{long}/?event={middle}",
        "effects": "/effects/",
        "overview": "/",
    }
    for name, path in pages.items():
        get(path)  # the first one loads templates
        yield {
            "figure": f"page: {name}",
            "unit": "ms of server time",
            **spread([_timed(get, path) for _ in range(ROUNDS)], 1),
            "tasks": TASKS,
            "events": TASKS * EVENTS_EACH + LONG,
            "goal": "p95 <= 60" if name.startswith(("list", "timeline")) else "none",
        }
    yield from _painted(folder, f"/tasks/{long}/")


def _painted(folder: Path, path: str) -> Iterator[dict[str, Any]]:
    """Open the page in fresh contexts of a browser: nothing is cached there."""
    from django.contrib.auth.models import User
    from playwright.sync_api import sync_playwright

    from tests.chromium import CHROMIUM

    if CHROMIUM is None:
        return
    name, value = session(User.objects.get(username="bench"))
    with web_process(folder) as (port, _), sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        taken = []
        for _ in range(PAINTS):
            context = browser.new_context(base_url=f"http://localhost:{port}", viewport={"width": 1280, "height": 800})
            context.add_cookies([{"name": name, "value": value, "url": f"http://localhost:{port}"}])
            page = context.new_page()
            page.goto(path)
            taken.append(float(page.evaluate(PAINT)))
            context.close()
        browser.close()
    shown = {"figure": "page: timeline, 100,000 events, first paint", "unit": "ms from the request, in Chromium"}
    yield {**shown, **spread(taken[1:], 1), "goal": "p95 <= 1000"}


def _timed(get: Callable[[str], Any], path: str) -> float:
    started = time.perf_counter()
    get(path)
    return (time.perf_counter() - started) * 1000


def _client() -> Callable[[str], Any]:
    from django.contrib.auth.models import User
    from django.test import Client

    client = Client(headers={"host": "localhost"})
    client.force_login(User.objects.get(username="bench"))

    def get(path: str) -> Any:
        answer = client.get(path)
        if answer.status_code != 200:
            raise RuntimeError(f"{path} answered {answer.status_code}")
        return answer.content

    return get


def _fill() -> Any:
    from django.db import connection

    from tasks_app.models import Task

    long = task_new("bench.reader", steps=1)
    with connection.cursor() as cursor:
        cursor.execute(FILL_TASKS, [EVENTS_EACH + 1, TASKS, long.pk])
        # Tasks of benchmarks that ran before have events of their own.
        ours = "t.id <> %s AND NOT EXISTS (SELECT FROM tasks_app_event e WHERE e.stream = t.id AND e.seq = 2)"
        cursor.execute(FILL_EVENTS.format(which=ours), [EVENTS_EACH + 1, long.pk])
        cursor.execute(FILL_EVENTS.format(which="t.id = %s"), [LONG, long.pk])
        Task.objects.filter(pk=long.pk).update(head_seq=LONG)
        cursor.execute("VACUUM ANALYZE tasks_app_task, tasks_app_event, tasks_app_call")
    return long.pk


def _short() -> Any:
    from tasks_app.models import Task

    return Task.objects.filter(head_seq=EVENTS_EACH + 1).order_by("pk")[100].pk
