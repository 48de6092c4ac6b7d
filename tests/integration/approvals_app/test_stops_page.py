"""The page of stops: which stand, what was attempted before them; set and lifted by who has the right (rule 14)."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from approvals_app.live.stops_feed import MOST_SHOWN
from core.access import Role
from tasks_app.models import Call, Event, StopSwitch, Task
from tasks_app.services.stops import stop_set
from tests.desk import HUSH, Desk, attempt, claim, decide, parked, propose, task_create
from tests.people import person
from tests.records import task_set

EVIL = '<b>"\u202e'


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def set_by_hand(client: Client, **more: str):
    given = {"scope": "agent", "name": "desk.agent", "workspace": "alder", "reason": "runs away"} | more
    return client.post(reverse("approvals-stops"), given, follow=True)


def shown(client: Client) -> str:
    return client.get(reverse("approvals-stops")).content.decode()


def test_rule_14_a_stop_is_set_and_lifted_on_its_page_with_a_reason(desk: Desk):
    rhea = signed_in(desk.rhea)
    assert "Nothing is stopped" in shown(rhea)
    page = set_by_hand(rhea).content.decode()
    assert all(said in page for said in ("Stopped: the agent desk.agent", "runs away", "Set by rhea"))
    lift = reverse("approvals-stop-lift", args=[StopSwitch.objects.get().pk])
    assert (rhea.post(lift, {"reason": ""}).status_code, StopSwitch.objects.count()) == (422, 1)
    page = rhea.post(lift, {"reason": "mended"}, follow=True).content.decode()
    assert "Lifted" in page
    assert not StopSwitch.objects.exists()
    assert rhea.post(lift, {"reason": "twice"}).status_code == 409


def attempted(desk: Desk) -> Task:
    """A task whose call was attempted and has no outcome."""
    task = task_create(desk)
    token = claim(task)
    propose(task, HUSH, "clean", {"path": "/a"}, token=token)
    attempt(task.pk, "clean", token, contract=HUSH)
    event = Event.objects.get(stream=task.pk, kind="call.attempted")
    Call.objects.filter(task=task).update(attempted_seq=event.seq)
    return task


def deny_all(desk: Desk, **more: str) -> dict[str, str]:
    kind = {"agent": "desk.agent", "tool": "desk.clean", "rule": "contract"}
    return kind | {"workspace": desk.workspace.slug, "reason": "wild"} | more


def test_rule_14_deny_all_tells_every_earlier_attempt_without_outcome(desk: Desk):
    task, rhea = attempted(desk), signed_in(desk.rhea)
    parked(desk)
    page = rhea.post(reverse("approvals-deny-all"), deny_all(desk), follow=True)
    assert "1 denied. The agent desk.agent is stopped" in page.content.decode()
    assert [one["task"] for one in page.context["stops"][0].attempts] == [str(task.pk)]
    body = {name: value for name, value in deny_all(desk).items() if name != "workspace"}
    said = rhea.post("/api/v1/approvals/groups/deny", body, content_type="application/json").json()
    assert [(one["task"], one["call"], one["send_by"] is None) for one in said["attempts"]] == [
        (str(task.pk), "clean", False)
    ]


def test_deny_all_without_a_reason_leads_back_to_where_the_form_stood_and_nowhere_else(desk: Desk):
    rhea, address = signed_in(desk.rhea), reverse("approvals-deny-all")
    stood = "http://testserver/approvals/?shelf=team&agent=desk.agent"
    for given, headers, leads in (
        ({}, {"Referer": stood}, "/approvals/?shelf=team&agent=desk.agent"),
        ({"back": "https://elsewhere.example/"}, {"Referer": "https://elsewhere.example/"}, "/"),
    ):
        answer = rhea.post(address, deny_all(desk, reason="", **given), headers=headers)
        assert (answer.status_code, answer["Location"]) == (303, leads)


def test_rule_14_the_page_lists_every_earlier_attempt_without_outcome_with_how_long_it_may_send(desk: Desk):
    task, rhea = attempted(desk), signed_in(desk.rhea)
    page = set_by_hand(rhea)
    (stop,) = page.context["stops"]
    assert [(one["task"], one["call"]) for one in stop.attempts] == [(str(task.pk), "clean")]
    assert "may still send until" in page.content.decode()
    assert "One earlier attempt has no outcome yet" in page.content.decode()


@pytest.mark.parametrize("role", Role)
def test_who_has_the_right_to_stop_sets_and_lifts_and_nobody_else(desk: Desk, role: Role):
    nora = signed_in(person("nora", desk.workspace, role))
    may = role in {Role.OPERATOR, Role.APPROVER, Role.ENGINEER, Role.ADMIN}
    assert ("Set a stop" in shown(nora)) == may
    assert set_by_hand(nora).status_code == (200 if may else 403)
    assert StopSwitch.objects.exists() == may
    standing = stop_set(workspace=desk.workspace, scope="tool", name="x", reason="r", user=desk.rhea, actor="person:r")
    address = reverse("approvals-stop-lift", args=[standing.switch.pk])
    assert ("Lift this stop" in shown(nora)) == may
    assert nora.post(address, {"reason": "r"}).status_code == (303 if may else 403)
    assert StopSwitch.objects.filter(pk=standing.switch.pk).exists() != may


def test_nobody_sees_or_lifts_the_stops_of_another_workspace_and_all_is_for_who_runs_it(desk: Desk):
    standing = stop_set(workspace=desk.workspace, scope="agent", name="secret", reason="r", user=desk.rhea, actor="x")
    tobin, rhea = signed_in(desk.tobin), signed_in(desk.rhea)
    assert "secret" not in shown(tobin)
    gone = 2**31 - 1
    for stop in (standing.switch.pk, gone):  # one answer, whether there is such a stop elsewhere or none at all
        refused = tobin.post(reverse("approvals-stop-lift", args=[stop]), {"reason": "r"})
        assert (refused.status_code, "does not stand any more" in refused.content.decode()) == (409, True)
    assert StopSwitch.objects.filter(pk=standing.switch.pk).exists()
    assert set_by_hand(tobin).status_code == 404
    assert set_by_hand(rhea, scope="all", name="").status_code == 422
    User.objects.filter(pk=desk.tobin.pk).update(is_superuser=True)
    page = set_by_hand(signed_in(User.objects.get(pk=desk.tobin.pk)), scope="all", name="", workspace="birch")
    assert "Stopped: everything, in every workspace" in page.content.decode()
    assert "everything, in every workspace" in shown(rhea)
    everything = StopSwitch.objects.get(scope="all")
    assert rhea.post(reverse("approvals-stop-lift", args=[everything.pk]), {"reason": "r"}).status_code == 403


def test_a_form_that_does_not_fit_says_why_and_keeps_what_was_typed(desk: Desk):
    rhea = signed_in(desk.rhea)
    page = set_by_hand(rhea, name="", reason="typed before")
    assert (page.status_code, "Name the agent or the tool" in page.content.decode()) == (422, True)
    assert "typed before" in page.content.decode()
    page = set_by_hand(rhea, name=EVIL, reason=EVIL).content.decode()
    assert EVIL not in page


def test_the_desk_the_card_and_the_overview_lead_to_the_stops(desk: Desk):
    request, rhea = parked(desk), signed_in(desk.rhea)
    stop_set(workspace=desk.workspace, scope="tool", name="desk.clean", reason="r", user=desk.rhea, actor="person:rhea")
    address, card = reverse("approvals-stops"), reverse("approval", args=[request.pk])
    for page in (reverse("approvals"), reverse("overview"), card):
        assert f'href="{address}' in rhea.get(page).content.decode(), page
    assert "this call does not begin" in rhea.get(card).content.decode()
    task_set(request.task, status="waiting", wait={"kind": "stop"})
    assert f'href="{address}' in rhea.get(reverse("task", args=[request.task_id])).content.decode()
    decide(request, desk.rhea)
    assert "this call does not begin" in rhea.get(card).content.decode()


def test_the_page_is_told_of_so_many_stops_as_could_stand_whatever_its_address_names(desk: Desk):
    rows = ".".join(map(str, [7, 7, *range(1000, 1000 + 2 * MOST_SHOWN)]))
    told = signed_in(desk.rhea).get("/approvals/stops/live/", {"rows": rows}).json()["html"]
    assert told.count('id="stop-7"') == 1
    assert 0 < told.count('id="stop-') <= MOST_SHOWN
