"""The board in a real browser: at a glance, live, by keyboard, at 360 px, in both themes, without scripts."""

import os
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.db import connection
from playwright.sync_api import BrowserContext, Page, expect

import tests.agents  # noqa: F401 - declares tools
from approvals_app.models import ApprovalRequest
from chaos_app.models import ToolProof
from core.access import Role
from core.clock import database_now
from core.hints import live_hint
from core.models import Membership
from tasks_app.models import Call, Task, Worker
from tasks_app.record.append import append
from tasks_app.record.events import After, SignalReceived
from tasks_app.services.access import roles_set
from tasks_app.services.stops import stop_set
from tasks_app.status import CallState
from tests.browser.axe import axe_clean
from tests.browser.conftest import listen, live
from tests.people import People, people_create
from tests.records import call_in, new_task, task_set

Opens = Callable[..., BrowserContext]
ADDRESSES = [
    "/",
    "/effects/",
    "/effects/?reference=nothing",
    "/tools/",
    "/tools/note.write/",
    "/workers/",
    "/credentials/",
]
ADDRESSES += ["/audit/", "/audit/?check=1", "/audit/?tab=tasks", "/audit/?kind=nothing"]
WIDE = """() => [...document.querySelectorAll("main *")].filter((one) => one.getBoundingClientRect().right > 361
  && !one.closest(".scroll, .counts, .tabs, pre")).map((one) => one.outerHTML.slice(0, 90))"""
EVIL = "<script>document.title='run'</script>\u202ereversed\u202c <img src=/evil onerror=alert(1)>"


@pytest.fixture
def people(transactional_db: None) -> People:
    return people_create()


@pytest.fixture
def busy(people: People) -> People:
    """A workspace in which much has happened, and hostile text stands in every field."""
    now = database_now()
    task = new_task(people.workspace, people.silas, title="Checkout requests queue for connections")
    call_in(task, "pay", CallState.IN_DOUBT, tool="note.write", resource="service/checkout", reference=EVIL)
    call_in(task, "ticket", CallState.VERIFIED, tool="note.write", resource="service/checkout", reference="T-4711")
    Call.objects.update(first_attempt_at=now)
    Call.objects.filter(name="ticket").update(attempted_seq=2)
    task_set(task, status="in_doubt", wake_at=None)
    for hours in range(9):
        ended = new_task(people.workspace, people.rhea, title=f"Rotate the key {hours}")
        how = "completed" if hours % 4 else "failed"
        task_set(ended, status=how, wake_at=None, ended_at=After(-3600.0 * hours))
    nonce = "00000000-0000-0000-0000-000000000002"
    runs = new_task(people.workspace, people.rhea, title=f"Mail backlog grows {EVIL}")
    lease = {"lease_holder": "worker-1@host", "lease_epoch": 4, "lease_nonce": nonce, "lease_until": After(3000)}
    task_set(runs, status="running", wake_at=None, **lease)
    for name, seen in (("worker-1@host", 0.0), ("worker-2@host", 70.0), (EVIL, 0.0)):
        row = {"host": "host", "pid": 4711, "keeper_pid": 4712, "pool": "prefork", "code_digest": "c" * 64}
        carries = {"agents": {"test.free": [1]}, "tools": {"note.write": [1]}}
        at = now + timedelta(hours=1) - timedelta(minutes=seen)
        Worker.objects.create(name=name, started_at=now, seen_at=at, carries=carries, **row)
    stop_set(workspace=people.workspace, scope="tool", name="a", reason=EVIL, user=people.rhea, actor="person:rhea")
    roles_set(workspace=people.workspace, user=people.silas, roles=["operator", "approver"], actor="person:rhea")
    trial = {"tool": "note.write", "version": 1, "declared": "keyed", "shown": "opaque", "trials": []}
    ToolProof.objects.create(**trial, is_true=False, at=now)
    asked(task, people)
    return people


def asked(task: Task, people: People) -> None:
    now = database_now()
    fixed: dict[str, Any] = {"tool": "note.write", "contract_version": 1, "schema_digest": "s", "digest": "d"}
    fixed |= {"same_call": "s", "risk": "low", "group": "approvers", "policy": {}, "run_within": 3600.0}
    for number, hours in enumerate((1, 3, 7)):
        decided = {"status": "approved", "decision": "approved", "decided_by": people.silas, "run_by": now}
        begin = now - timedelta(hours=hours)
        ApprovalRequest.objects.create(
            workspace=task.workspace,
            task=task,
            name=f"change-{number}",
            line=f"pool of checkout from 20 to {40 + number}",
            requested_at=begin,
            decided_at=begin + timedelta(minutes=12 * hours),
            **fixed,
            **decided,
        )
    waits = {"requested_at": now - timedelta(minutes=4), "decide_by": now + timedelta(minutes=26)}
    ApprovalRequest.objects.create(workspace=task.workspace, task=task, name="w", line=EVIL, **fixed, **waits)


def opened(context: BrowserContext, path: str) -> tuple[Page, list[str]]:
    page = context.new_page()
    seen: list[str] = []
    listen(page, seen)
    page.goto(path)
    return page, seen


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_page_is_clean_for_axe_fits_360_px_and_runs_nothing_hostile(busy: People, signed_in: Opens, theme: Any):
    context = signed_in(busy.rhea, color_scheme=theme, viewport={"width": 360, "height": 740})
    for address in ADDRESSES:
        page, seen = opened(context, address)
        axe_clean(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, (address, page.evaluate(WIDE))
        assert page.locator("main script, main img").count() == 0
        assert page.title() != "run"
        assert seen == [], address
        page.close()


def test_on_a_phone_the_place_where_one_is_stands_in_view(busy: People, signed_in: Opens):
    page, _ = opened(signed_in(busy.rhea, viewport={"width": 360, "height": 740}), "/audit/")
    expect(page.locator(".places [aria-current]")).to_be_in_viewport(ratio=0.9)


def test_on_a_phone_a_row_shows_all_of_it_and_stays_a_row_of_a_table(busy: People, signed_in: Opens):
    context = signed_in(busy.rhea, viewport={"width": 360, "height": 740})
    for address, said in (("/tasks/", "Outcome unknown"), ("/effects/", "service/checkout"), ("/tools/", "note.write")):
        page, _ = opened(context, address)
        assert page.locator(".rows").evaluate("one => one.parentElement.scrollWidth <= one.parentElement.clientWidth")
        expect(page.locator(".rows tbody")).to_contain_text(said)
        assert page.locator(".rows :is(thead, tbody, tr, th, td):not([role])").count() == 0
        roles = tree_of(page)
        assert {"table", "row", "rowheader", "cell", "columnheader"} <= roles, (address, roles)
        page.close()


def test_on_a_phone_the_console_shows_all_of_a_row_under_the_names_of_its_columns(busy: People, signed_in: Opens):
    Membership.objects.create(user=busy.rhea, workspace=busy.workspace, role=Role.ADMIN)
    context = signed_in(busy.rhea, viewport={"width": 360, "height": 740})
    for address, label in (("tasks_app/task/", "Status"), ("tasks_app/call/", "Tool"), ("core/membership/", "Role")):
        page, _ = opened(context, f"/admin/{address}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, address
        cell = page.locator(f"#result_list tbody td[data-label='{label}']").first
        expect(cell).to_be_in_viewport()
        assert label in cell.evaluate("one => getComputedStyle(one, '::before').content")
        assert {"table", "row", "rowheader", "cell", "columnheader"} <= tree_of(page)
        page.close()


def test_on_a_wide_screen_the_effects_table_fits_its_page(busy: People, signed_in: Opens):
    Call.objects.filter(name="ticket").update(reference="68f0c9dde6621dc0c9b77e1bc4e5e031a24a64ad")
    page, _ = opened(signed_in(busy.rhea, viewport={"width": 1280, "height": 800}), "/effects/")
    table = page.get_by_role("region", name="Effects")
    assert table.evaluate("one => one.scrollWidth <= one.clientWidth")
    expect(table).to_contain_text("68f0c9dd…a24a64ad")
    expect(page.get_by_role("button", name="Copy reference 68f0c9dd")).to_have_attribute(
        "data-copy", re.compile("^68f0")
    )


def tree_of(page: Page) -> set[str]:
    """Return the roles that a screen reader is told of."""
    told = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")
    return {node["role"]["value"] for node in told["nodes"] if not node.get("ignored") and "role" in node}


def test_what_is_seldom_filtered_by_is_folded_on_a_phone_alone(busy: People, signed_in: Opens):
    for width, folded in ((360, True), (1280, False)):
        page, _ = opened(signed_in(busy.rhea, viewport={"width": width, "height": 740}), "/tasks/")
        expect(page.get_by_text("More filters")).to_be_visible(visible=folded)
        expect(page.locator("input[name=owner]")).to_be_visible(visible=not folded)
        page.close()
    narrow, _ = opened(signed_in(busy.rhea, viewport={"width": 360, "height": 740}), "/tasks/?owner=rhea")
    expect(narrow.get_by_role("textbox", name="Owner")).to_be_visible()  # what narrows the list is seen


def test_the_bar_stays_where_it_is_while_the_page_becomes_live(busy: People, signed_in: Opens):
    page = signed_in(busy.rhea, viewport={"width": 1280, "height": 800}).new_page()
    page.add_init_script("""addEventListener("DOMContentLoaded", () => {
      window.places = new Set();
      const note = () => places.add(document.querySelector(".search").getBoundingClientRect().x);
      const every = {subtree: true, childList: true, attributes: true, characterData: true};
      new MutationObserver(note).observe(document.getElementById("live-indicator"), every);
      note();
    })""")
    page.goto("/")
    live(page)
    assert page.evaluate("places.size") == 1, page.evaluate("[...places]")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_words_inside_an_empty_field_can_be_read(busy: People, signed_in: Opens, theme: Any):
    page, _ = opened(signed_in(busy.rhea, color_scheme=theme, viewport={"width": 1280, "height": 800}), "/effects/")
    for field in page.locator("input[placeholder]").all():
        assert field.evaluate(CONTRAST) >= 4.5


CONTRAST = """(field) => {
  const light = (colour) => colour.match(/[0-9.]+/g).slice(0, 3).map(Number)
    .map((part) => part / 255).map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const words = getComputedStyle(field, "::placeholder");
  const [one, other] = [light(words.color), light(getComputedStyle(field).backgroundColor)].sort((a, b) => a - b);
  return words.opacity === "1" ? (other + 0.05) / (one + 0.05) : 0;
}"""


def test_what_needs_somebody_is_above_the_fold_at_1280_by_800(busy: People, signed_in: Opens):
    page, _ = opened(signed_in(busy.rhea, viewport={"width": 1280, "height": 800}), "/")
    notices = page.locator("#attention .notice")
    expect(notices.first).to_contain_text("approval waits for you")
    # All in one look: the section is live, and a part of it may be swapped between two.
    ends = notices.evaluate_all("all => all.map(one => one.getBoundingClientRect().bottom)")
    assert 0 < max(ends) <= 800


def test_the_overview_follows_without_a_reload(people: People, signed_in: Opens):
    task = new_task(people.workspace, people.rhea, title="Clean the harbour")
    page, seen = opened(signed_in(people.rhea), "/")
    live(page)
    page.evaluate("window.marked = true")
    call_in(task, "pay", CallState.IN_DOUBT)
    task_set(task, status="in_doubt", wake_at=None)
    done = append(stream=task.pk, events=[SignalReceived(name="x")], actor="worker:w", task={})
    live_hint(stream=task.pk, workspace=task.workspace_id, seq=done.head_seq)
    expect(page.locator("#attention")).to_contain_text("1 outcome is unknown")
    expect(page.locator("#task-counts")).to_contain_text("Outcome unknown")
    assert page.evaluate("window.marked")
    assert seen == []


def test_the_keyboard_goes_from_page_to_page_and_through_rows(busy: People, signed_in: Opens):
    page, seen = opened(signed_in(busy.rhea), "/")
    for key, path in (("e", "/effects/"), ("l", "/tools/"), ("w", "/workers/"), ("u", "/audit/"), ("o", "/")):
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.wait_for_url(lambda url, path=path: urlsplit(url).path == path)
    page.goto("/effects/")
    page.keyboard.press("/")
    page.keyboard.type("4711")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "reference=4711" in url)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "/tasks/" in url)
    assert seen == []


def test_without_scripts_everything_is_read_and_a_worker_is_drained(busy: People, signed_in: Opens):
    page = signed_in(busy.rhea, java_script_enabled=False).new_page()
    page.goto("/")
    expect(page.get_by_text("approval waits for you")).to_be_visible()
    expect(page.get_by_text("completed, 3 failed or cancelled in 24 hours.")).to_be_visible()
    page.goto("/workers/")
    page.locator("select[name=worker]").select_option(label="worker-1@host")
    page.get_by_label("Reason").fill("an upgrade")
    page.get_by_role("button", name="Drain it").click()
    expect(page.get_by_text("worker-1@host was asked to hand over and to end.")).to_be_visible()
    page.goto("/audit/")
    expect(page.get_by_text("asked the worker")).to_be_visible()


PICTURES = os.environ.get("HANDRAIL_PICTURES", "")


@pytest.mark.skipif(not PICTURES, reason="pictures are taken on demand: HANDRAIL_PICTURES names a folder")
def test_pictures(busy: People, signed_in: Opens):
    assert connection.settings_dict["NAME"]
    for theme in ("light", "dark"):
        for width in (1280, 360):
            context = signed_in(busy.rhea, color_scheme=theme, viewport={"width": width, "height": 800})
            for address in ADDRESSES:
                page, _ = opened(context, address)
                name = address.strip("/").replace("/", "-").replace("?", "-").replace("=", "-") or "overview"
                page.screenshot(path=Path(PICTURES) / f"{name}-{width}-{theme}.png", full_page=True)
                page.close()
