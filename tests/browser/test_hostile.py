"""Hostile text in every field of every page: nothing runs, nothing leaves, everything is readable."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
from django.contrib import admin
from django.urls import reverse
from playwright.sync_api import BrowserContext, Page

from approvals_app.models import ApprovalRequest
from approvals_app.notify.models import Alert, Channel, Delivery
from approvals_app.status import Answer
from chaos_app.models import DrillRun
from chaos_app.services.collect import drills_collect
from core.access import Role
from core.clock import database_now
from core.models import Membership
from tasks_app.models import Event, LateWrite, Task, Worker
from tasks_app.record.append import append
from tasks_app.record.events import (
    ContextSelected,
    SignalReceived,
    SliceLost,
    TaskPaused,
)
from tasks_app.services.stops import stop_set
from tasks_app.status import CallState
from tests.browser.conftest import listen
from tests.desk import PAY, Desk, decide, desk_create, parked
from tests.integration.drills.conftest import some, twice, written  # noqa: F401
from tests.planted import HOSTILE, plant
from tests.records import call_in, leased, new_task, task_set

Opens = Callable[..., BrowserContext]
pytestmark = pytest.mark.timeout(300)
TASK_TABS = ("", "?tab=seen", "?tab=record", "?tab=input", "?tab=approvals", "?tab=brief")
PLAIN = [
    *("/", "/tasks/", "/tasks/start/", "/approvals/", "/approvals/figures/", "/approvals/rules/", "/approvals/grants/"),
    "/approvals/stops/",
    *("/approvals/?shelf=team", "/approvals/?shelf=doubt", "/approvals/?shelf=decided", "/approvals/?shelf=expired"),
    *(
        "/alerts/",
        "/alerts/deliveries/",
        "/effects/",
        "/tools/",
        "/credentials/",
        "/workers/",
        "/audit/",
        "/audit/?tab=tasks",
    ),
    *("/drills/", "/drills/schedules/", "/drills/tools/", "/drills/launch/", "/drills/trend/", "/credentials/"),
    *("/search/?q=W", "/tasks/?text=WWW"),
]


@pytest.fixture
def desk(transactional_db: None, written) -> Desk:  # noqa: F811
    """Return a workspace in which there is something of every kind; rhea may see all of it."""
    desk = desk_create()
    Membership.objects.bulk_create(
        Membership(user=desk.rhea, workspace=desk.workspace, role=role) for role in Role if role != Role.APPROVER
    )
    decide(parked(desk, name=f"clean {HOSTILE}"[:56]), desk.silas, Answer.DENIED, reason="Not today.")
    parked(desk, PAY, name=f"pay {HOSTILE}"[:56], arguments={"amount": "90.00", "to": "Some One"})
    _task(desk)
    _installation(desk)
    for name in ("run-1", "run-2"):
        written([*some(), twice()], name=name)
    drills_collect()
    DrillRun.objects.update(workspace=desk.workspace)
    assert plant() > 40
    return desk


def _task(desk: Desk) -> None:
    labels = {"Team of": "The quay"}
    task = new_task(desk.workspace, desk.rhea, title="Clean the harbour", labels=labels, intent={"a": "Some text"})
    call_in(
        task,
        f"pay {HOSTILE}"[:56],
        CallState.IN_DOUBT,
        reference="Their number",
        resource="Some place",
        business_key="Once",
    )
    call_in(task, f"mail {HOSTILE}"[:56], CallState.VERIFIED, reference="Their other", resource="Some place")
    since = None
    for step, content in enumerate(("See this", "And this"), start=1):
        added = [{"role": "user", "content": content}]
        fixed = {"ask": 1, "model": "m", "dropped": [0] if since else [], "since": since, "reserved_tokens": 1}
        since = task_set(task, ContextSelected(step=step, added=added, instructions="Do as told.", **fixed)).head_seq
    task_set(task, SignalReceived(name="Some signal", payload={"Said": "Some payload"}))
    lost = {
        "lost_epoch": 1,
        "worker": "A worker",
        "seen": "process gone",
        "place": "Step 2",
        "losses": 1,
        "counted": True,
    }
    task_set(task, SliceLost(**lost, log_tail=["Some last words"]), wait=None)
    LateWrite.objects.create(
        stream=task.pk,
        at=database_now(),
        held_epoch=2,
        presented_epoch=1,
        presented_nonce=task.pk,
        actor="worker:w-1",
        kind="call.outcome",
        data={"name": "Pay it", "result": "Some late answer"},
    )
    leased(new_task(desk.workspace, desk.rhea, title="Runs on"), lease_holder="Some worker")
    paused = new_task(desk.workspace, desk.rhea, title="Waits")
    append(stream=paused.pk, events=[TaskPaused(reason="Some reason")], actor="person:rhea", task={"status": "paused"})


def _installation(desk: Desk) -> None:
    now = database_now()
    carries = {"agents": {"Some agent": [1]}, "tools": {"Some tool": [1]}}
    row = {"host": "Some host", "pid": 1, "keeper_pid": 2, "pool": "prefork", "code_digest": "c" * 64}
    Worker.objects.create(name=f"w {HOSTILE}"[:110], started_at=now, seen_at=now, carries=carries, **row)
    stop_set(
        workspace=desk.workspace, scope="tool", name="Some tool", reason="Why", user=desk.rhea, actor="person:rhea"
    )
    Alert.objects.create(rule="stopped", key="1", title="Stopped", todo="Do it.", seen_at=now, raised_at=now)
    hook = Channel.objects.create(workspace=desk.workspace, name=HOSTILE[:80], kind="webhook")
    body = {"data": {"title": "Approval needed", "text": "Some text", "link": "/approvals/"}}
    more = {"state": "dead", "made_at": now, "due_at": now, "log": [{"at": now.isoformat(), "said": "They said no"}]}
    Delivery.objects.create(
        workspace=desk.workspace,
        channel=hook,
        kind="approval.requested",
        subject=str(desk.workspace.pk),
        body=body,
        **more,
    )


def addresses() -> list[str]:
    found = list(PLAIN)
    for task in Task.objects.all():
        found += [f"/tasks/{task.pk}/{tab}" for tab in TASK_TABS]
        seqs = Event.objects.filter(stream=task.pk).values_list("seq", flat=True)
        found += [f"/tasks/{task.pk}/?event={seq}" for seq in seqs]
        found += [reverse("call-settle", args=[task.pk, call.name]) for call in task.calls.filter(state="in_doubt")]
        found.append(f"/tasks/together/?id={task.pk}")
    for request in ApprovalRequest.objects.all():
        found += [f"/approvals/{request.pk}/", f"/approvals/{request.pk}/review/"]
    for run in DrillRun.objects.all():
        found += [reverse("drill-run", args=[run.pk]), reverse("drill-compare", args=[run.pk])]
        found += [reverse("drill-case", args=[run.pk, case.pk]) for case in run.cases.all()]
        found += [reverse("drill-trend", args=[case.cell]) for case in run.cases.all()[:1]]
    return found


def console() -> list[str]:
    found = []
    for model in admin.site._registry:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        found.append(reverse(f"{name}_changelist"))
        row = model._default_manager.first()
        found += [reverse(f"{name}_change", args=[row.pk])] if row else []
    return found


@pytest.fixture
def context(desk: Desk, signed_in: Opens) -> BrowserContext:
    return signed_in(desk.rhea, viewport={"width": 360, "height": 740})


TABS = 6  # most of a visit is waiting until half a second long nothing more is asked for: several wait at once


@dataclass
class Tab:
    """A page and what happened in it: what it said to the console, and all that it asked for."""

    page: Page
    seen: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        listen(self.page, self.seen)
        self.page.on("request", lambda request: self._note(request.url))
        self.page.on("dialog", lambda dialog: self.seen.append(f"a dialog: {dialog.message}"))

    def _note(self, url: str) -> None:
        if url.startswith("http"):
            self.asked.append(url)

    def begin(self, address: str) -> None:
        answer = self.page.goto(address, wait_until="commit")
        assert answer is not None
        assert answer.status == 200, (address, answer.status)


def visited(context: BrowserContext, addresses: list[str]) -> Iterator[tuple[str, str]]:
    """Yield each address and its text, once it is known to be inert."""
    tabs = [Tab(context.new_page()) for _ in range(TABS)]
    for at in range(0, len(addresses), TABS):
        pairs = list(zip(tabs, addresses[at : at + TABS], strict=False))
        for tab, address in pairs:
            tab.begin(address)
        for tab, address in pairs:
            yield address, inert(tab.page, address, tab.seen, tab.asked)


def inert(page: Page, address: str, seen: list[str], asked: list[str]) -> str:
    """Wait until the page rests, and return its text; it has run nothing, and asked nobody else for anything."""
    page.wait_for_load_state("networkidle")
    assert seen == [], address
    here = urlsplit(page.url).netloc
    assert [url for url in asked if urlsplit(url).netloc != here or "evil" in url] == [], address
    assert page.title() != "run", address
    planted = "#planted, [onerror], [onmouseover], [action*=evil]"
    ours = "" if "/admin/" in address else ", main script, main img, main style"  # the console has pictures of its own
    assert page.locator(planted + ours).count() == 0, address
    assert page.locator("main").is_visible() if "/admin/" not in address else True
    return page.locator("body").inner_text()


def test_every_page_is_inert_and_readable(context: BrowserContext):
    shown = 0
    for address, text in visited(context, addresses()):
        assert not {"\u202e", "\u200b", "\x1b"} & set(text), f"an invisible character stands in {address}"
        shown += "document.title='run'" in text
    assert shown > 10  # as text


def test_every_page_of_the_console_is_inert(context: BrowserContext):
    assert len([address for address, _ in visited(context, console())]) > 20
