"""The console goes by the table of roles: who enters, which rows, which choices; a flag of an account opens nothing."""

from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from core.access import Right, Role, may
from core.console import Console, ConsoleAdmin, PersonalAdmin
from core.models import ApiToken, Membership, Workspace
from tasks_app.models import Event, SavedView, StopSwitch, Task
from tasks_app.services.access import token_create
from tasks_app.services.stops import stop_set
from tests.people import People, person
from tests.records import new_task

LISTS = ["tasks_app_task", "tasks_app_event", "core_apitoken", "core_membership", "core_workspace", "auth_user"]
NEW = {"password1": "a new one, long enough", "password2": "a new one, long enough", "usable_password": "true"}


@pytest.fixture
def mine(client_of: Any, people: People) -> Client:
    """Rhea administers her workspace; Tobin administers the other one, where things have their names from."""
    Membership.objects.create(user=people.rhea, workspace=people.workspace, role=Role.ADMIN)
    new_task(people.elsewhere, people.tobin, title="Secret of elsewhere")
    token_create(
        workspace=people.elsewhere, user=people.tobin, name="t-else", scopes=["tasks:read"], days=1, actor="system"
    )
    return client_of(people.rhea)


def lists(client: Client, name: str, **asked: str) -> str:
    answer = client.get(reverse(f"admin:{name}_changelist"), asked)
    assert answer.status_code == 200, name
    return answer.content.decode()


def add(name: str) -> str:
    return reverse(f"admin:{name}_add")


def change(name: str, row: Any) -> str:
    return reverse(f"admin:{name}_change", args=[row.pk])


@pytest.mark.parametrize("role", Role)
def test_the_console_opens_to_the_roles_that_the_table_says(client_of: Any, people: People, role: Role):
    who = person("vera", people.workspace, role)
    expected = may(frozenset({role}), Right.ADMINISTER)
    assert (client_of(who).get(reverse("admin:index")).status_code == 200) == expected
    assert (client_of(who).get(reverse("admin:tasks_app_task_changelist")).status_code == 200) == expected


def test_flags_and_permissions_of_an_account_open_nothing(client_of: Any, people: People):
    people.rhea.is_staff = people.rhea.is_superuser = True
    people.rhea.save()
    console = client_of(people.rhea)
    answer = console.get(reverse("admin:index"), follow=True)
    assert answer.status_code == 403
    assert "you administer none" in answer.content.decode()
    people.rhea.is_staff = people.rhea.is_superuser = False
    people.rhea.save()
    Membership.objects.create(user=people.rhea, workspace=people.workspace, role=Role.ADMIN)
    assert console.get(reverse("admin:index")).status_code == 200


def test_a_role_that_is_taken_closes_the_console_at_once(mine: Client, people: People):
    assert mine.get(reverse("admin:index")).status_code == 200
    Membership.objects.filter(user=people.rhea, role=Role.ADMIN).delete()
    assert mine.get(reverse("admin:index")).status_code == 302
    assert mine.post(add("core_membership"), {}).status_code == 302


def test_every_model_in_the_console_says_whose_its_rows_are():
    assert isinstance(admin.site._wrapped if hasattr(admin.site, "_wrapped") else admin.site, Console)
    for model, one in admin.site._registry.items():
        assert isinstance(one, ConsoleAdmin), model
        if one.within and not isinstance(one, PersonalAdmin):
            place = one.within.split("__")[0]
            assert place == "pk" or hasattr(model, "stream") or model._meta.get_field(place), model


@pytest.mark.parametrize("name", LISTS)
def test_lists_and_searches_know_nothing_of_other_workspaces(mine: Client, people: People, name: str):
    stream = str(Task.objects.get(workspace=people.elsewhere).pk)
    for shown in (lists(mine, name), lists(mine, name, q="e")):
        for theirs in ("elsewhere", "Elsewhere", "tobin", "t-else", stream):
            assert theirs not in shown, (name, theirs)


def test_a_row_of_another_workspace_is_not_found_by_its_address(mine: Client, people: People):
    task = Task.objects.get(workspace=people.elsewhere)
    rows = [("tasks_app_task", task), ("auth_user", people.tobin), ("core_workspace", people.elsewhere)]
    for name, row in [*rows, ("core_membership", Membership.objects.filter(user=people.tobin)[0])]:
        answer = mine.get(change(name, row))
        assert (answer.status_code, answer["Location"]) == (302, reverse("admin:index")), name


def test_forms_offer_and_take_no_row_of_another_workspace(mine: Client, people: People):
    """Also after somebody who reaches more had the same form open."""
    given = {"user": people.tobin.pk, "workspace": people.elsewhere.pk, "role": "admin"}
    for wrong in (given, given | {"user": people.rhea.pk}, given | {"workspace": people.workspace.pk}):
        assert mine.post(add("core_membership"), wrong).status_code == 200
    assert not Membership.objects.filter(user=people.rhea, workspace=people.elsewhere).exists()
    for form in ("tasks_app_stopswitch", "approvals_app_policyrule", "notify_channel", "core_apitoken"):
        shown = mine.get(add(form)).content.decode()
        assert "Harbour" in shown, form
        assert "Elsewhere" not in shown, form
    stop = {"scope": "workspace", "name": "", "reason": "?", "said_in": people.elsewhere.pk}
    assert mine.post(add("tasks_app_stopswitch"), stop).status_code == 200
    assert not StopSwitch.objects.exists()
    asked = {"term": "o", "app_label": "core", "model_name": "membership", "field_name": "user"}
    assert "tobin" not in mine.get(reverse("admin:autocomplete"), asked).content.decode()


@pytest.mark.parametrize("scope", ["approvals:decide", "tasks:create"])
def test_nobody_makes_themselves_a_token_with_the_word_of_another_person(mine: Client, people: People, scope: str):
    """Its secret is shown to who makes it: they would decide in one name what they asked for in the other."""
    given = {
        "workspace": people.workspace.pk,
        "kind": "person",
        "name": "t",
        "scopes": ["tasks:read", scope],
        "days": 2,
    }
    refused = mine.post(add("core_apitoken"), given | {"user": people.silas.pk})
    assert "made by themselves" in refused.content.decode()
    assert not ApiToken.objects.filter(workspace=people.workspace).exists()
    assert mine.post(add("core_apitoken"), given | {"user": people.rhea.pk}).status_code == 302
    agents = given | {"user": people.silas.pk, "scopes": ["tasks:read"], "kind": "agent"}
    assert mine.post(add("core_apitoken"), agents).status_code == 302
    assert ApiToken.objects.filter(workspace=people.workspace).count() == 2


def test_what_concerns_the_whole_deployment_is_changed_by_who_runs_it(mine: Client, client_of: Any, people: People):
    stop = {"scope": "all", "name": "", "reason": "all", "said_in": people.workspace.pk}
    assert mine.get(add("core_workspace")).status_code == 403
    assert mine.post(add("tasks_app_stopswitch"), stop).status_code == 200
    assert not StopSwitch.objects.exists()
    people.rhea.is_superuser = True
    people.rhea.save()
    mine = client_of(people.rhea)
    assert mine.post(add("core_workspace"), {"name": "New", "slug": "new"}).status_code == 302
    first = {"user": people.silas.pk, "workspace": Workspace.objects.get(slug="new").pk, "role": "admin"}
    assert mine.post(add("core_membership"), first).status_code == 302
    assert mine.post(add("tasks_app_stopswitch"), stop).status_code == 302
    assert StopSwitch.objects.get().scope == "all"
    assert "Secret of elsewhere" not in lists(mine, "tasks_app_task")  # running it is no role in a workspace


def test_a_stop_over_everything_is_seen_by_each_administrator_and_lifted_by_none_of_them(mine: Client, people: People):
    everything = StopSwitch.objects.create(scope="all", name="", reason="fire", set_by=people.tobin)
    assert "fire" in lists(mine, "tasks_app_stopswitch")
    address = reverse("admin:tasks_app_stopswitch_delete", args=[everything.pk])
    assert mine.post(address, {"post": "yes"}).status_code == 403
    assert StopSwitch.objects.exists()


def test_a_stop_over_everything_is_lifted_where_it_was_said(client_of: Any, people: People):
    people.rhea.is_superuser = True
    people.rhea.save()
    for one in (people.workspace, people.elsewhere):
        Membership.objects.create(user=people.rhea, workspace=one, role=Role.ADMIN)
    stop_set(workspace=people.elsewhere, scope="all", reason="fire", user=people.rhea, actor="person:rhea")
    address = reverse("admin:tasks_app_stopswitch_delete", args=[StopSwitch.objects.get().pk])
    assert client_of(people.rhea).post(address, {"post": "yes"}).status_code == 302
    said = Event.objects.filter(kind="switch.changed").order_by("at")
    assert [one.stream for one in said] == [people.elsewhere.pk] * 2


def test_a_stop_of_which_nothing_was_said_is_lifted_where_one_administers(client_of: Any, people: People):
    """Not in a workspace that one can only look at."""
    people.rhea.is_superuser = True
    people.rhea.save()
    Membership.objects.create(user=people.rhea, workspace=people.elsewhere, role=Role.ADMIN)
    stop = StopSwitch.objects.create(scope="all", name="", reason="fire", set_by=people.tobin)
    address = reverse("admin:tasks_app_stopswitch_delete", args=[stop.pk])
    assert client_of(people.rhea).post(address, {"post": "yes"}).status_code == 302
    assert Event.objects.get(kind="switch.changed").stream == people.elsewhere.pk


def test_a_saved_view_is_shown_to_its_owner_alone(mine: Client, people: People):
    for user, name in ((people.silas, "Silas at night"), (people.rhea, "Rhea by day")):
        SavedView.objects.create(user=user, workspace=people.workspace, name=name, query={"status": "failed"})
    shown = lists(mine, "tasks_app_savedview")
    assert "Rhea by day" in shown
    assert "Silas at night" not in shown
    theirs = change("tasks_app_savedview", SavedView.objects.get(user=people.silas))
    assert mine.get(theirs).status_code == 302


def test_an_account_of_two_workspaces_is_not_taken_over_by_the_administrator_of_one(mine: Client, people: People):
    """Who could set its password could sign in to the other workspace."""
    Membership.objects.create(user=people.tobin, workspace=people.workspace, role=Role.VIEWER)
    word = reverse("admin:auth_user_password_change", args=[people.tobin.pk])
    assert "tobin" in lists(mine, "auth_user")
    assert mine.post(word, NEW).status_code == 403
    assert mine.post(change("auth_user", people.tobin), {"username": "x"}).status_code == 403
    assert User.objects.get(pk=people.tobin.pk).check_password("correct horse battery")
    assert mine.post(reverse("admin:auth_user_password_change", args=[people.silas.pk]), NEW).status_code == 302


def test_an_account_that_belongs_to_no_workspace_is_taken_over_by_no_administrator(mine: Client):
    """It may be on its way into another workspace: who could set its password would come in there."""
    made = User.objects.create_user("uma", password="correct horse battery")
    word = reverse("admin:auth_user_password_change", args=[made.pk])
    assert "uma" in lists(mine, "auth_user")
    assert mine.post(word, NEW).status_code == 403
    assert mine.post(change("auth_user", made), {"username": "x"}).status_code == 403
    assert mine.post(reverse("admin:auth_user_delete", args=[made.pk]), {"post": "yes"}).status_code == 403
    several = {"action": "delete_selected", "_selected_action": [str(made.pk)], "post": "yes"}
    mine.post(reverse("admin:auth_user_changelist"), several)
    assert User.objects.get(username="uma").check_password("correct horse battery")


def test_an_administrator_adds_an_account_and_makes_nobody_a_superuser(mine: Client, people: People):
    made = {"username": "uma", "usable_password": "false"}
    assert mine.post(add("auth_user"), made, follow=True).status_code == 200
    uma = User.objects.get(username="uma")
    role = {"user": uma.pk, "workspace": people.workspace.pk, "role": "viewer"}
    assert mine.post(add("core_membership"), role).status_code == 302
    assert Membership.objects.filter(user=uma, workspace=people.workspace, role="viewer").exists()
    dates = {"date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
    given = {"username": "uma", "is_active": "on", "is_superuser": "on"} | dates
    assert mine.post(change("auth_user", uma), given).status_code == 302
    assert not User.objects.get(username="uma").is_superuser
