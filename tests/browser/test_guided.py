"""The guided run's page in a real browser, at each of its stages: readable, clickable, inert, also without scripts."""

import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from chaos_app.drills.place import LOCK
from chaos_app.guided.stages import STAGES
from chaos_app.guided.state import orders_take, state_write
from chaos_app.models import DrillRun
from core.clock import database_now
from tests.browser.axe import axe_clean
from tests.browser.conftest import listen
from tests.people import People, people_create
from tests.processes import wait_for

SHOTS = os.environ.get("HANDRAIL_SHOTS", "")
EVIL = "<script>document.title='run'</script>\u202e<img src=/evil onerror=alert(1)>"


def said(*parts: str, glyph: str = "", tone: str = "") -> dict[str, Any]:
    return {"parts": [[part, "quote" if part.startswith('"') else ""] for part in parts], "tone": tone, "glyph": glyph}


def state(stage: str) -> dict[str, Any]:
    row = {"css": "", "at": 1.0, "cause": None}
    seam = said("Worker changed: worker-2 lost its lease (no. 3), worker-1 continued at 4 (no. 4)", glyph="shield")
    rows = [
        {**row, "id": "event-1", "seq": 1, "line": said("rhea started the task ", f'"{EVIL}"')},
        {**row, "id": "event-3", "seq": 3, "line": said("Attempt 1 of credit begins")},
        {
            **row,
            "id": "event-4",
            "seq": 4,
            "css": "divider",
            "line": seam,
            "cause": said("It could not be paid twice."),
        },
    ]
    paid = {"label": "P-1", "reference": "P-1", "at": 1.0, "unprotected": False}
    payments = [{**paid, "title": EVIL, "times": 0}]
    if stage == "over":
        twice = {**paid, "title": "EUR 480", "times": 2, "unprotected": True}
        payments = [*({**twice, "reference": f"P-{n}", "label": f"P-{n}"} for n in (3, 2)), *payments]
    world = [{"name": "payments", "heading": "Payments", "promise": "no key, no look-up", "entries": payments}]
    world += [{"name": "mail", "heading": "Mail", "promise": "can be looked up", "entries": []}]
    task = {"title": EVIL, "status": "running", "wait": "", "losses": 0, "holder": EVIL, "rows": rows, "left_out": 7}
    return {"stage": stage, "task": task, "world": world, "asked": EVIL if stage in {"change", "pay"} else ""}


@pytest.fixture
def run(transactional_db, tmp_path: Path) -> Iterator[tuple[People, DrillRun]]:
    people = people_create()
    fixed = {"workspace": people.workspace, "suite": "guided", "seed": 1, "launched_by": people.rhea}
    row = DrillRun.objects.create(
        **fixed, state="running", launched_at=database_now(), folder=str(tmp_path), pid=os.getpid()
    )
    row.refresh_from_db()
    with (tmp_path / LOCK).open("w") as lock:  # its controller, to whoever asks
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield people, row


def ordered(row: DrillRun) -> list[dict[str, Any]]:
    """Return the orders that a click gave, as soon as the web process has written them."""
    return wait_for(lambda: orders_take(Path(row.folder)), what="an order")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_every_stage_is_accessible_fits_and_runs_nothing_hostile(run, signed_in, theme: Any, width: int):
    people, row = run
    page = signed_in(people.rhea, viewport={"width": width, "height": 800}, color_scheme=theme).new_page()
    seen: list[str] = []
    listen(page, seen)
    page.goto("/drills/first/")
    axe_clean(page)
    for stage in STAGES:
        state_write(Path(row.folder), state(stage) | ({"problem": EVIL} if stage == "look" else {}))
        page.goto(f"/drills/first/{row.pk}/")
        expect(page.get_by_role("heading", name=STAGES[stage].title)).to_be_visible()
        if stage in {"starting", "change", "applied", "look", "over"}:
            axe_clean(page)
            if SHOTS:
                page.screenshot(path=str(Path(SHOTS) / f"guided-{stage}-{width}-{theme}.png"), full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, stage
        assert page.locator("main script, main img").count() == 0
        assert page.title() != "run"
    assert seen == []


def test_the_page_follows_by_itself_and_keeps_what_is_typed(run, signed_in):
    people, row = run
    state_write(Path(row.folder), state("takeover"))
    page = signed_in(people.rhea).new_page()
    seen: list[str] = []
    listen(page, seen)
    page.goto(f"/drills/first/{row.pk}/")
    state_write(Path(row.folder), state("look"))
    page.get_by_label("Payment number").fill("P-1")
    grown = state("look")
    grown["world"][0]["entries"].append({**grown["world"][0]["entries"][0], "label": "P-2", "reference": "P-2"})
    state_write(Path(row.folder), grown)
    expect(page.get_by_text("P-2")).to_be_visible()
    expect(page.get_by_label("Payment number")).to_have_value("P-1")
    page.get_by_role("button", name="Record what happened").click()
    assert ordered(row) == [{"do": "settle", "reference": "P-1"}]
    assert seen == []


def test_at_the_end_what_was_protected_comes_first_and_nothing_is_left_to_end(run, signed_in):
    people, row = run
    state_write(Path(row.folder), state("look"))
    page = signed_in(people.rhea).new_page()
    page.goto(f"/drills/first/{row.pk}/")
    expect(page.get_by_role("button", name="End it")).to_be_visible()
    state_write(Path(row.folder), state("over"))
    expect(page.get_by_role("button", name="Tidy up")).to_be_visible()
    expect(page.get_by_role("button", name="End it")).to_have_count(0)
    said = page.locator("#guided-world").inner_text()
    order = ["With Handrail", "P-1", "Happened once", "Without protection", "P-3", "Happened twice"]
    assert sorted(order, key=said.index) == order
    page.get_by_role("button", name="Tidy up").click()
    assert ordered(row)[0]["do"] == "end"
    DrillRun.objects.filter(pk=row.pk).update(state="ended")
    expect(page.get_by_role("link", name="Begin again")).to_be_visible()  # the page follows to the very end
    expect(page.get_by_role("button", name="Tidy up")).to_have_count(0)


def test_it_can_be_played_without_scripts_and_only_by_who_may(run, signed_in):
    people, row = run
    state_write(Path(row.folder), state("applied"))
    page = signed_in(people.rhea, java_script_enabled=False).new_page()
    page.goto(f"/drills/first/{row.pk}/")
    page.get_by_role("button", name="Kill this worker now").click()
    assert ordered(row)[0]["do"] == "kill"
    looks = signed_in(people.silas).new_page()  # an operator: may look, runs no drills
    looks.goto(f"/drills/first/{row.pk}/")
    expect(looks.get_by_role("heading", name="Payment applied, answer lost")).to_be_visible()
    expect(looks.get_by_role("button", name="Kill this worker now")).to_have_count(0)
    assert json.loads((Path(row.folder) / "guided.json").read_text())["stage"] == "applied"
