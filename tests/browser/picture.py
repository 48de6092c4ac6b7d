"""``make picture``: the README's picture, taken of the real page of a real task whose worker was killed mid-call.

The demonstration runs in a folder of its own; the outside world holds the answer to the configuration change, the
process that waits for it is killed, the next one finds the change outside and goes on.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from chaos_app.world.client import WorldClient
from tests.chromium import CHROMIUM, LEFT_OUT
from tests.processes import ROOT, kill, running, wait_for
from tests.stacks import environment

PICTURE = ROOT / "static" / "img" / "readme-timeline.png"
INCIDENT = "INC-4101"
SIZE = {"width": 1280, "height": 1350}


def main() -> int:
    """Take the picture; returns the exit code."""
    if CHROMIUM is None:
        print(LEFT_OUT, file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="handrail-picture-") as folder:
        env = environment(Path(folder) / "var") | {"HANDRAIL_MODEL": "scripted"}
        log = Path(folder) / "log"
        log.touch()
        with running("manage.py", "demo", "--port", "0", "--no-browser", env=env, log=log):
            wait_for(lambda: "The outside world, as it is:" in log.read_text(), seconds=120, what="the demonstration")
            _take(log.read_text(), env)
    print(f"{PICTURE.relative_to(ROOT)} is new.")
    return 0


def _take(said: str, env: dict[str, str]) -> None:
    link, world = (re.search(rf"{words}\s+(\S+)", said)[1] for words in ("who approves:", "as it is:"))
    url = re.search(r"ready at (\S+)", said)[1]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(base_url=url, viewport=SIZE)
        page.goto(link)
        page.get_by_role("button", name="Sign in").click()
        task = _get(page, f"/api/v1/tasks?text={INCIDENT}")["items"][0]["id"]
        _live(page, task, WorldClient(world.rstrip("/")), env)
        page.goto(f"/tasks/{task}/")
        page.wait_for_load_state("networkidle")
        page.screenshot(path=PICTURE)
        browser.close()


def _live(page: Page, task: str, world: WorldClient, env: dict[str, str]) -> None:
    """See the task to its end: approve what it asks, and kill its worker while the change is being answered."""
    held = world.arm("config", "hold", match={"call": f"{task}/change"}, at="applied")
    _approve(page, task, "change", env)
    world.wait_reached(held.id, seconds=60)
    kill(_events(page, task, "slice.claimed")[-1]["data"]["pid"])
    world.release(held.id, then="cut")
    wait_for(lambda: _events(page, task, "slice.lost"), seconds=60, what="the loss to be recorded")
    _approve(page, task, "credit", env)
    wait_for(lambda: _get(page, f"/api/v1/tasks/{task}")["status"] == "completed", seconds=60, what="its end")


def _approve(page: Page, task: str, call: str, env: dict[str, str]) -> None:
    approval = _asked(page, task, call)[0]["id"]
    command = [sys.executable, "manage.py", "approval", "approve", approval, "--as", "silas"]
    subprocess.run([*command, "--reason", "Seen the graph, go."], cwd=ROOT, env=env, check=True, stdout=subprocess.PIPE)


def _asked(page: Page, task: str, call: str) -> list[dict[str, Any]]:
    def found() -> list[dict[str, Any]]:
        asked = _get(page, "/api/v1/approvals?limit=100")["approvals"]
        return [one for one in asked if one["task"] == task and one["call"] == call]

    return wait_for(found, seconds=60, what=f"the approval of {call}")


def _events(page: Page, task: str, kind: str) -> list[dict[str, Any]]:
    return [one for one in _get(page, f"/api/v1/tasks/{task}/events?limit=500")["items"] if one["kind"] == kind]


def _get(page: Page, path: str) -> Any:
    return page.request.get(path).json()


if __name__ == "__main__":
    sys.exit(main())
