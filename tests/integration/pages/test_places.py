"""Who belongs to several workspaces stays in the one whose page they are on, wherever they go on from there."""

import re
from dataclasses import replace
from html import unescape
from urllib.parse import urljoin
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from chaos_app.drills.script import good
from chaos_app.models import DrillCase, DrillPin, DrillRun, DrillSchedule
from chaos_app.services.cases import case_store
from chaos_app.services.guided import SUITE as GUIDED
from core.access import Role
from core.clock import database_now
from core.models import Membership
from core.principal import Principal
from tasks_app.live.list_feed import ListFeed
from tasks_app.models import Worker
from tasks_app.selectors.tasks import TaskFilter
from tasks_app.services.saved_views import view_save
from tests.desk import CLEAN
from tests.people import People, principal_of
from tests.records import new_task

NAMES = ("overview", "tasks", "tasks-together", "task-start", "effects", "tools", "workers", "audit", "search")
DRILLS = ("drills", "drill-launch", "drill-schedules", "drill-trends", "drill-tools", "drill-first")
OF_ONE_WORKSPACE = {reverse(name) for name in (*NAMES, *DRILLS, "audit-export", "credentials", "deliveries")} | {"/"}
BELOW_THEM = ("/tools/", "/drills/trend/")
ORDERS = ("/drills/switch/", "/drills/schedules/", "/workers/drain/")  # forms that a workspace's page sends
PAGES = [
    *((name, {}) for name in (*NAMES, *DRILLS)),
    ("tasks", {"text": "harbour"}),
    ("tasks", {"text": "nothing fits"}),
    ("tasks-together", {"text": "harbour"}),
    ("task-start", {"agent": "test.free"}),
    ("effects", {"reference": "x"}),
    ("audit", {"person": "x", "check": "0"}),
    ("search", {"q": "harbour"}),
    ("credentials", {}),
    ("approvals-rules", {}),
    ("deliveries", {"state": "dead"}),
    ("drill-launch", {"suite": "full", "cell": "E04.applied.keyed.kill"}),
    ("drill-trends", {"row": "E04"}),
    ("drill-schedules", {"name": "Nightly"}),
]


@pytest.fixture
def two(people: People) -> User:
    """Somebody with every role in two workspaces, of which harbour is not the first."""
    for role in Role:
        Membership.objects.get_or_create(user=people.rhea, workspace=people.workspace, role=role)
    Membership.objects.create(user=people.rhea, workspace=people.elsewhere, role=Role.VIEWER)
    new_task(people.workspace, people.rhea, title="Clean the harbour")
    return people.rhea


@pytest.fixture
def case(people: People, two: User) -> DrillCase:
    """A drill that ended in harbour, a pin and a schedule there."""
    here, now = people.workspace, database_now()
    run = DrillRun.objects.create(workspace=here, suite="core", seed=1, launched_at=now, ended_at=now, state="ended")
    DrillPin.objects.create(workspace=here, task=uuid4(), lost_seq=1, cell="E04.applied.keyed.kill", by=two, at=now)
    DrillSchedule.objects.create(workspace=here, name="Nightly", cron="0 3 * * *", seen_until=now, owner=two)
    return case_store(run=run, name="one", evidence=replace(good().evidence(), command="manage.py drill run"))


def strays(html: str, here: str) -> list[str]:
    """Return the links and forms to a page of one workspace that do not name it. ``here``: the address of the page."""
    found = [urljoin(here, unescape(one)) for one in re.findall(r'<a [^>]*href="([^"#][^"]*)"', html)]
    there = [one for one in found if one.partition("?")[0] in OF_ONE_WORKSPACE or one.startswith(BELOW_THEM)]
    there += [one for one in map(unescape, re.findall(r'<form [^>]*action="([^"]+)"', html)) if one.startswith(ORDERS)]
    forms = re.findall(r'<form [^>]*(?:method="get"|role="search")[^>]*>.*?</form>', html, re.S)
    forms = [form for form in forms if here in OF_ONE_WORKSPACE or "action=" in form]
    lost = [form for form in forms if 'name="workspace"' not in form]
    return [one for one in there if "workspace=harbour" not in one] + lost


@pytest.mark.parametrize(("name", "query"), PAGES)
@pytest.mark.usefixtures("case")
def test_every_link_and_form_of_a_page_stays_in_its_workspace(client_of, two: User, name: str, query: dict[str, str]):
    answer = client_of(two).get(reverse(name), query | {"workspace": "harbour"})
    assert answer.status_code == 200
    assert strays(answer.content.decode(), reverse(name)) == []


def test_so_do_a_tasks_page_a_tools_page_and_a_saved_view(client_of, people: People, two: User):
    rhea, task = client_of(two), new_task(people.workspace, two)
    of_task, of_tool = reverse("task", args=[task.pk]), reverse("tool", args=[CLEAN.name])
    assert strays(rhea.get(of_task).content.decode(), of_task) == []
    assert strays(rhea.get(of_tool, {"workspace": "harbour"}).content.decode(), of_tool) == []
    view_save(principal=principal_of(two, people.workspace), name="Mine", filters=TaskFilter(owner="rhea"))
    shown = rhea.get(reverse("tasks"), {"workspace": "harbour"})
    assert [view["url"] for view in shown.context["views"]] == [f"{reverse('tasks')}?owner=rhea&workspace=harbour"]


def test_so_do_the_pages_of_one_drill_which_know_their_workspace_by_themselves(client_of, case: DrillCase, two: User):
    rhea, run = client_of(two), case.run_id
    for address in (
        reverse("drill-run", args=[run]),
        reverse("drill-case", args=[run, case.pk]),
        reverse("drill-compare", args=[run]),
        reverse("drill-trend", args=[case.cell]) + "?workspace=harbour",
    ):
        html = rhea.get(address).content.decode()
        assert reverse("drills") + "?workspace=harbour" in html
        assert strays(html, address.partition("?")[0]) == []


def test_the_first_five_minutes_lead_on_in_their_workspace_once_they_are_over(client_of, people: People, two: User):
    now = database_now()
    run = DrillRun.objects.create(workspace=people.workspace, suite=GUIDED, seed=1, launched_at=now, state="failed")
    address = reverse("drill-guided", args=[run.pk])
    for one in (address, reverse("drill-guided-parts", args=[run.pk])):
        html = client_of(two).get(one).content.decode()
        assert "Begin again" in html
        assert strays(html, address) == []


def test_what_is_sent_from_a_page_of_drills_leads_back_to_the_same_workspace(client_of, case: DrillCase, two: User):
    rhea, here = client_of(two), "?workspace=harbour"
    asked = {"name": "Weekly", "cron": "0 4 * * 0", "zone": "UTC", "suite": "core", "grace_seconds": "1800"}
    asked |= {"catch_up": "latest", "catch_up_most": "3", "overlap": "skip", "enabled": "on"}
    of_all = reverse("drill-schedules") + here
    assert rhea.post(of_all, asked)["Location"] == of_all
    nightly = DrillSchedule.objects.get(name="Nightly", workspace__slug="harbour")
    remove = reverse("drill-schedule-remove", args=[nightly.pk]) + here
    assert rhea.post(remove)["Location"] == of_all
    switched = rhea.post(reverse("drill-switch") + here, {"off": "1", "reason": "an upgrade"})
    assert switched["Location"] == reverse("drills") + here


def test_who_drains_a_worker_is_led_back_to_the_same_workspace(client_of, two: User):
    now = database_now()
    row = Worker.objects.create(name="w", host="h", pid=7, pool="prefork", started_at=now, seen_at=now)
    address = reverse("worker-drain") + "?workspace=harbour"
    answer = client_of(two).post(address, {"worker": row.pk, "reason": "an upgrade"})
    assert (answer.status_code, answer["Location"]) == (303, reverse("workers") + "?workspace=harbour")


def test_what_a_live_list_says_of_newcomers_and_counts_stays_there(people: People, two: User):
    principal = Principal(user=two, workspace=people.workspace, roles=frozenset(Role), many=True)
    feed = ListFeed.of("workspace=harbour&first=1&owner=rhea", lambda: principal)
    assert strays("".join(message["html"] for message in feed.read().messages), reverse("tasks")) == []


def test_who_has_one_workspace_alone_is_told_nothing_of_workspaces(client_of, people: People):
    new_task(people.workspace, people.silas)
    shown: Client = client_of(people.silas)
    for name in ("overview", "tasks", "effects", "tools", "workers", "search", *DRILLS):
        main = shown.get(reverse(name)).content.decode()
        assert not re.search(r'href="[^"]*workspace=', main)
