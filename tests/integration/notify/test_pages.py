"""Deliveries and dead letters on a page and over the API; channels in the console."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from approvals_app.notify.models import AlertRule, Channel, Delivery, Route
from core.access import Right, Role
from core.models import Membership, Workspace
from tasks_app.models import Event
from tasks_app.services.access import token_create
from tests.channels import channel, route, told
from tests.desk import Desk, parked
from tests.receiver import Receiver


@pytest.fixture
def dead(desk: Desk, receiver: Receiver, settings) -> Delivery:
    settings.HANDRAIL_NOTIFY_RETRY = []
    receiver.answers.append(500)
    route(channel(desk.workspace, "webhook", receiver.url))
    parked(desk)
    (delivery,) = told()
    assert delivery.state == "dead"
    return delivery


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_what_was_given_up_is_listed_and_sent_again_without_scripts(desk: Desk, dead: Delivery, receiver: Receiver):
    silas = client_of(desk.silas)
    page = silas.get(reverse("deliveries"), {"state": "dead"}).content.decode()
    assert "Given up" in page
    assert "the receiver answered 500" in page
    again = reverse("delivery-again", args=[dead.pk])
    assert f'action="{again}"' in page
    sent = silas.post(again, {"state": "dead"}, follow=True)
    assert "It is on its way again" in sent.content.decode()
    told()
    assert {got.headers["webhook-id"] for got in receiver.got} == {str(dead.pk)}
    assert "No delivery here" in silas.get(reverse("deliveries"), {"state": "dead"}).content.decode()
    refused = silas.post(reverse("delivery-again", args=[dead.pk]), follow=True)
    assert "on its way again" in refused.content.decode()  # what was sent may be sent again, too


def test_who_may_not_operate_reads_and_cannot_send_again_and_outsiders_see_nothing(desk: Desk, dead: Delivery):
    vera = client_of(desk.vera)
    again = reverse("delivery-again", args=[dead.pk])
    assert again not in vera.get(reverse("deliveries")).content.decode()
    assert vera.post(again).status_code == 403
    tobin = client_of(desk.tobin)
    assert tobin.post(again).status_code == 404
    assert "has no channel" in tobin.get(reverse("deliveries")).content.decode()
    assert vera.get(reverse("deliveries"), {"state": "lost"}).status_code == 404


def test_the_list_is_paged_by_key(desk: Desk, receiver: Receiver, monkeypatch):
    monkeypatch.setattr("approvals_app.notify.selectors.deliveries.ROWS", 2)
    route(channel(desk.workspace, "webhook", receiver.url))
    for _ in range(5):
        parked(desk)
    ids = [str(one.pk) for one in reversed(told())]
    silas = client_of(desk.silas)

    def shown(url: str) -> list[str]:
        page = silas.get(url)
        return [str(row.pk) for row in page.context["rows"]] + [page.context["next_url"], page.context["previous_url"]]

    first = shown(reverse("deliveries"))
    assert (first[:2], first[3]) == (ids[:2], None)
    second = shown(first[2])
    assert second[:2] == ids[2:4]
    third = shown(second[2])
    assert (third[0], third[1]) == (ids[4], None)
    assert shown(third[2])[:2] == ids[2:4]


def test_the_api_lists_sends_again_and_keeps_addresses_to_itself(desk: Desk, dead: Delivery, receiver: Receiver):
    silas = client_of(desk.silas)
    listed = silas.get("/api/v1/deliveries?state=dead").json()
    assert [one["id"] for one in listed["items"]] == [str(dead.pk)]
    assert listed["items"][0]["log"][-1]["said"] == "the receiver answered 500"
    assert receiver.url not in silas.get("/api/v1/channels").content.decode()
    assert client_of(desk.vera).post(f"/api/v1/deliveries/{dead.pk}/replay").status_code == 403
    assert client_of(desk.tobin).post(f"/api/v1/deliveries/{dead.pk}/replay").status_code == 404
    assert silas.post(f"/api/v1/deliveries/{dead.pk}/replay").json()["state"] == "waiting"
    assert silas.post(f"/api/v1/deliveries/{dead.pk}/replay").status_code == 409
    assert silas.post(f"/api/v1/channels/{dead.channel_id}/test").status_code == 403
    assert silas.get("/api/v1/alerts").json() == []


def test_a_token_without_the_scope_sends_nothing_again(desk: Desk, dead: Delivery):
    _, secret = token_create(
        workspace=desk.workspace,
        user=desk.silas,
        name="reads",
        scopes=[Right.TASKS_READ],
        days=1,
        kind="person",
        actor="person:silas",
    )
    headers = {"HTTP_AUTHORIZATION": f"Bearer {secret}"}
    assert Client().get("/api/v1/deliveries", **headers).status_code == 200
    assert Client().post(f"/api/v1/deliveries/{dead.pk}/replay", **headers).status_code == 403


@pytest.fixture
def console(desk: Desk) -> Client:
    ada = User.objects.create_superuser("ada", "ada@example.com", "correct horse battery")
    Membership.objects.create(user=ada, workspace=desk.workspace, role=Role.ADMIN)
    return client_of(ada)


ADD = "/admin/notify/channel/add/"


def test_a_webhook_inside_is_refused_at_its_field_and_nothing_is_saved(desk: Desk, console: Client, settings):
    settings.HANDRAIL_NOTIFY_PRIVATE = False
    given = {"workspace": str(desk.workspace.pk), "name": "inside", "kind": "webhook", "enabled": "on"}
    for address in ("https://127.0.0.1/hook", "https://169.254.169.254/latest/", "https://[::1]/"):
        page = console.post(ADD, given | {"address": address})
        assert "private, loopback" in page.content.decode()
    assert "begins with https" in console.post(ADD, given | {"address": "gopher://x"}).content.decode()
    assert not Channel.objects.exists()


def test_a_channel_is_made_tried_and_changed_and_its_address_is_never_shown(
    desk: Desk, console: Client, receiver: Receiver
):
    given = {"workspace": str(desk.workspace.pk), "name": "hook", "kind": "webhook", "enabled": "on"}
    made = console.post(ADD, given | {"address": receiver.url}, follow=True).content.decode()
    assert "shown this once: whsec_" in made
    hook = Channel.objects.get()
    change = f"/admin/notify/channel/{hook.pk}/change/"
    page = console.get(change).content.decode()
    assert receiver.url not in page
    assert hook.secret not in page
    console.post(change, {"name": "renamed", "address": "", "enabled": "on"})
    hook.refresh_from_db()
    assert (hook.name, hook.address) == ("renamed", receiver.url)
    action = {"action": "send_a_test", "_selected_action": [str(hook.pk)]}
    assert "On its way" in console.post("/admin/notify/channel/", action, follow=True).content.decode()
    (delivery,) = told()
    assert (delivery.kind, delivery.state) == ("test", "sent")
    said = [row.data for row in Event.objects.filter(stream=desk.workspace.pk, kind="channel.changed").order_by("seq")]
    assert [one["what"] for one in said] == ["channel hook", "channel renamed"]
    assert receiver.url not in str(said)
    assert hook.secret not in str(said)


def test_a_route_is_checked_and_its_changes_are_said(desk: Desk, console: Client, receiver: Receiver):
    hook = channel(desk.workspace, "webhook", receiver.url)
    given = {"channel": str(hook.pk), "lowest_risk": "low", "after": "0", "enabled": "on"}
    ours, theirs = str(desk.workspace.pk), str(desk.tobin.memberships.first().workspace_id)
    add = "/admin/notify/route/add/"
    Membership.objects.create(user=User.objects.get(username="ada"), workspace_id=theirs, role=Role.ADMIN)
    wrong = console.post(add, given | {"workspace": theirs, "about": "approvals"})
    assert "belongs to another workspace" in wrong.content.decode()
    mixed = console.post(add, given | {"workspace": ours, "about": "alerts", "tool": "desk.pay"})
    assert "not asked of alerts" in mixed.content.decode()
    console.post(add, given | {"workspace": ours, "about": "alerts", "rule": "no-worker"})
    kept = Route.objects.get()
    console.post(f"/admin/notify/route/{kept.pk}/delete/", {"post": "yes"})
    assert not Route.objects.exists()
    said = Event.objects.filter(stream=desk.workspace.pk, kind="channel.changed", data__what="route to webhook")
    assert said.count() == 2


def test_a_change_of_an_alert_rule_is_said_in_every_workspace_with_who_and_what(desk: Desk, console: Client):
    rule = AlertRule.objects.create(name="no-worker", holds_for=20)
    change = f"/admin/notify/alertrule/{rule.pk}/change/"
    console.post(change, {"enabled": "on", "holds_for": "20"})  # as it was: nothing to say
    console.post(change, {"holds_for": "90"})
    rule.refresh_from_db()
    assert (rule.enabled, rule.holds_for) == (False, 90)
    theirs = desk.tobin.memberships.first().workspace_id
    for stream in (desk.workspace.pk, theirs):
        said = Event.objects.get(stream=stream, kind="channel.changed")
        assert (said.actor, said.data["what"]) == ("person:ada", "alert rule no-worker")
        assert said.data["before"] == {"enabled": True, "holds_for": 20}
        assert said.data["after_change"] == {"enabled": False, "holds_for": 90}


def test_the_way_to_channels_is_shown_to_who_may_enter_the_console(desk: Desk):
    """The table of roles says who; Django's own flags open nothing there, and lead nowhere here."""
    desk.vera.is_superuser = True
    desk.vera.save()
    Membership.objects.create(user=desk.silas, workspace=desk.workspace, role=Role.ADMIN)
    for page in ("alerts", "deliveries"):
        way = reverse("admin:notify_channel_changelist")
        assert way in client_of(desk.silas).get(reverse(page)).content.decode()
        assert way not in client_of(desk.vera).get(reverse(page)).content.decode()
    assert client_of(desk.silas).get(way).status_code == 200


def test_who_belongs_to_several_chooses_whose_deliveries_they_see_and_stays_there(desk: Desk, receiver, monkeypatch):
    monkeypatch.setattr("approvals_app.notify.selectors.deliveries.ROWS", 1)
    first = Workspace.objects.create(slug="aaa", name="The first")
    Membership.objects.create(user=desk.silas, workspace=first, role=Role.VIEWER)
    route(channel(desk.workspace, "webhook", receiver.url))
    parked(desk)
    parked(desk)
    _, newest = told()
    silas, here = client_of(desk.silas), {"workspace": desk.workspace.slug}
    assert "has no channel" in silas.get(reverse("deliveries")).content.decode()
    page = silas.get(reverse("deliveries"), here | {"state": "sent"})
    assert [row.pk for row in page.context["rows"]] == [newest.pk]
    links = [*(tab["url"] for tab in page.context["tabs"]), page.context["next_url"]]
    assert all(f"workspace={desk.workspace.slug}" in link for link in links)
    html = page.content.decode()
    assert f'<option value="{desk.workspace.slug}" selected>' in html
    assert '<option value="aaa">' in html
    assert '<input type="hidden" name="state" value="sent">' in html  # choosing another one keeps the tab
    again = silas.post(reverse("delivery-again", args=[newest.pk]), {"state": "sent"})
    assert again["Location"] == f"{reverse('deliveries')}?state=sent&workspace={desk.workspace.slug}"
    assert silas.get(reverse("deliveries"), {"workspace": "elsewhere"}).status_code == 404


def test_who_has_one_workspace_is_offered_no_choice(desk: Desk):
    page = client_of(desk.rhea).get(reverse("deliveries")).content.decode()
    assert 'name="workspace"' not in page
