"""The pages of drills in a real browser: axe in both themes, wide and narrow, and without scripts."""

import json
import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from chaos_app.models import DrillCase, DrillRun, ToolProof
from chaos_app.services.collect import drills_collect
from core.clock import database_now
from tests.browser.axe import axe_clean
from tests.browser.conftest import listen
from tests.integration.drills.conftest import some, twice, written  # noqa: F401
from tests.people import people_create

SHOTS = os.environ.get("HANDRAIL_SHOTS", "")


@pytest.fixture
def run(transactional_db, written):  # noqa: F811
    people = people_create()
    trials = [{"name": "one key twice is one effect", "holds": True, "saw": "1, then 1."}]
    made = {"declared": "keyed", "shown": "keyed", "is_true": True, "trials": trials, "at": database_now()}
    ToolProof.objects.create(tool="ticket.open", version=1, **made)
    written([*some(), twice()])
    drills_collect()
    DrillRun.objects.update(workspace=people.workspace)
    return people, DrillRun.objects.get()


def shot(page, name: str) -> None:
    if SHOTS:
        page.screenshot(path=str(Path(SHOTS) / f"{name}.png"), full_page=True)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_every_page_of_drills_is_accessible(run, signed_in, theme, width):
    people, row = run
    case = DrillCase.objects.get(cell="E04.applied.keyed.kill")
    context = signed_in(people.rhea, viewport={"width": width, "height": 800}, color_scheme=theme)
    page = context.new_page()
    seen: list[str] = []
    listen(page, seen)
    paths = {
        "list": "/drills/",
        "launch": "/drills/launch/?suite=core&row=E04",
        "run": f"/drills/{row.pk}/",
        "case": f"/drills/{row.pk}/cases/{case.pk}/",
        "trend": f"/drills/trend/{case.cell}/",
        "trends": "/drills/trend/",
        "compare": f"/drills/{row.pk}/compare/",
        "trends-row": "/drills/trend/?row=E04",
        "schedules": "/drills/schedules/",
        "tools": "/drills/tools/",
    }
    for name, path in paths.items():
        page.goto(path)
        axe_clean(page)
        overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert overflow <= 0, f"{name} is wider than its window by {overflow} pixels"
        shot(page, f"drills-{name}-{theme}-{width}")
    assert seen == []


def test_a_case_is_read_without_scripts(run, signed_in):
    people, row = run
    page = signed_in(people.rhea, java_script_enabled=False).new_page()
    page.goto(f"/drills/{row.pk}/")
    page.get_by_role("link", name="E04.twice").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("the effect happened and its answer is lost")
    expect(page.get_by_text("Happened twice").first).to_be_visible()


@pytest.fixture
def under_way(transactional_db, written):  # noqa: F811
    people = people_create()
    folder = written(some()[:1], state="running")
    lines = [
        {"at": 1.0, "cell": "E05.before.opaque.kill", "stage": stage, "what": "", "worker": "w-3", "epoch": 2, "pid": 7}
        for stage in ("armed", "reached")
    ]
    (folder / "progress.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    drills_collect()
    DrillRun.objects.update(workspace=people.workspace)
    return people, DrillRun.objects.get()


def test_a_run_under_way_shows_its_lanes_renews_itself_and_can_be_stopped(under_way, signed_in, written):  # noqa: F811
    people, row = under_way
    page = signed_in(people.rhea).new_page()
    page.goto(f"/drills/{row.pk}/")
    expect(page.get_by_role("heading", name="1 of 1 cases are judged")).to_be_visible()
    expect(page.get_by_role("row", name="E05.before.opaque.kill")).to_contain_text("w-3, lease no. 2")
    axe_clean(page)
    shot(page, "drills-under-way")
    written(some(), state="running")
    drills_collect()
    expect(page.get_by_role("heading", name="3 of 3 cases are judged")).to_be_visible()
    page.get_by_role("button", name="Stop and clean up").click()
    expect(page.get_by_role("button", name="Stopping")).to_be_disabled()
    assert (Path(row.folder) / "stop").exists()


def test_the_page_of_a_run_shows_its_result_by_itself_when_it_is_over(under_way, signed_in, written):  # noqa: F811
    people, row = under_way
    page = signed_in(people.rhea).new_page()
    page.goto(f"/drills/{row.pk}/")
    expect(page.get_by_role("button", name="Stop and clean up")).to_be_visible()
    expect(page.get_by_text("not drilled yet").first).to_be_visible()
    written(some(), state="ended")
    drills_collect()
    expect(page.get_by_role("link", name="Report (HTML)")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Every fault that was tried is safe")
    expect(page.get_by_role("button", name="Stop and clean up")).to_have_count(0)
    expect(page.get_by_role("row", name="E04 the effect happened and its answer is lost")).to_contain_text("1 of 1")
    expect(page.get_by_role("heading", name="The six obligations of a safe resume")).to_be_visible()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(3000)
    assert [url for url in asked if url.endswith(f"/drills/{row.pk}/")] == []
    axe_clean(page)
