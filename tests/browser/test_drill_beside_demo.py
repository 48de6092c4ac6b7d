"""A drill beside the demonstration: it reaches nothing there, whoever looks or looks away."""

import json
import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from playwright.sync_api import Browser, Page

from core.embedded import address
from tests.drills.test_safety import of_run
from tests.processes import alive, descendants, running, wait_for
from tests.stacks import Up, environment

pytestmark = pytest.mark.timeout(500)


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Up]:
    """The demonstration as a newcomer starts it."""
    var, log = tmp_path / "var", tmp_path / "demo.log"
    log.write_text("")
    command = ("manage.py", "demo", "--no-browser", "--port", "0")
    # None in stock: a sandbox that waits for a call is thrown away after a minute, whatever a drill does.
    env = environment(var, HANDRAIL_MODEL="scripted", HANDRAIL_SANDBOX_STOCK="0")
    with running(*command, env=env, log=log) as process:
        wait_for(lambda: "The outside world, as it is" in log.read_text(), seconds=200, what="the demo to greet")
        yield Up(process, var, log)


def shared(demo: Up) -> dict[str, Any]:
    """What a drill must not move: every row of the demo's tasks, and what its world has counted."""
    with psycopg.connect(address.database_url(demo.var)) as connection:
        tasks = connection.execute("SELECT id, agent, status, head_seq FROM tasks_app_task ORDER BY id").fetchall()
        workers = connection.execute("SELECT id, name, pid FROM tasks_app_worker ORDER BY id").fetchall()
    world = re.search(r"The outside world, as it is:\s+(\S+)", demo.printed())
    assert world is not None
    with urllib.request.urlopen(f"{world[1]}ledger/effects", timeout=10) as answer:
        effects = json.load(answer)["effects"]
    return {"tasks": tasks, "workers": workers, "effects": effects}


def at_rest(demo: Up) -> dict[str, Any] | None:
    """Return how the demo stands once all of its tasks wait for a person."""
    now = shared(demo)
    return now if len(now["tasks"]) == 10 and {task[2] for task in now["tasks"]} == {"waiting"} else None


def sign_in(demo: Up, page: Page) -> None:
    link = re.search(r"Sign in as rhea, who started them:\s+(\S+)", demo.printed())
    assert link is not None
    page.goto(link[1])
    page.locator("main form button").first.click()
    page.wait_for_load_state()


def test_a_drill_beside_the_demo_moves_nothing_there_and_ends_though_the_browser_was_closed(
    demo: Up, browser: Browser
) -> None:
    before = wait_for(lambda: at_rest(demo), seconds=120, what="ten tasks to wait for a person")
    processes = set(descendants(demo.process.pid))
    context = browser.new_context(base_url=demo.url())
    page = context.new_page()
    sign_in(demo, page)
    page.goto("/drills/launch/?suite=core&cell=L03.after.keyed.kill")
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_url(re.compile(r"/drills/[0-9a-f-]{36}/"))
    page.locator("#run-live").wait_for()
    context.close()
    (folder,) = wait_for(lambda: list((demo.var / "drills").glob("run-*")), seconds=60, what="the run's folder")
    wait_for(lambda: len(of_run(folder)) > 5, seconds=120, what="the drill's processes")

    def ended() -> tuple[str, int | None] | None:
        with psycopg.connect(address.database_url(demo.var)) as connection:
            row = connection.execute("SELECT state, exit_code FROM chaos_app_drillrun").fetchone()
        return row if row and row[0] not in {"starting", "running"} else None

    assert wait_for(ended, seconds=300, what="the run to be over") == ("ended", 0)
    wait_for(lambda: not of_run(folder), seconds=30, what="everything of the drill to end")
    assert shared(demo) == before
    assert {pid for pid in processes if alive(pid)} == processes
    assert [path.name for path in folder.iterdir() if path.name in {"postgres", "run", "world"}] == []
