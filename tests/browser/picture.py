"""``make picture``: the README's picture, taken of the real page: the guided run, played to its end.

The demonstration runs in a folder of its own; a person approves, kills the worker, records the payment, and lets the
same payment be made without protection.
"""

import re
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from chaos_app.guided.stages import STAGES
from tests.chromium import CHROMIUM, LEFT_OUT
from tests.processes import ROOT, running, wait_for
from tests.stacks import environment

PICTURE = ROOT / "static" / "img" / "readme-guided.png"
SIZE = {"width": 1280, "height": 900}
MOVES_WITHIN = 150_000  # milliseconds


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
            _take(log.read_text())
    print(f"{PICTURE.relative_to(ROOT)} is new.")
    return 0


def _take(said: str) -> None:
    link = re.search(r"who started them:\s+(\S+)", said)
    url = re.search(r"ready at (\S+)", said)
    assert link
    assert url
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(base_url=url[1], viewport=SIZE)
        page.goto(link[1])
        page.get_by_role("button", name="Sign in").click()
        page.goto("/drills/first/")
        page.get_by_role("button", name="Begin").click()
        _play(page)
        page.screenshot(path=PICTURE, full_page=True)
        page.get_by_role("button", name="Tidy up").click()
        browser.close()


def _play(page: Page) -> None:
    """Press what the strip offers, stage by stage."""
    for name in ("change", "pay", "applied", "look", "protected"):
        stage = STAGES[name]
        button = page.get_by_role("button", name=stage.button)
        expect(button).to_be_visible(timeout=MOVES_WITHIN)
        if stage.do == "settle":
            page.get_by_label("Payment number").fill("P-1")
        button.click()
    expect(page.get_by_role("heading", name=STAGES["over"].title)).to_be_visible(timeout=MOVES_WITHIN)


if __name__ == "__main__":
    sys.exit(main())
