"""The administrator's console: record rows are read-only; every change of rights and stops is in the stream."""

import re
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from core.access import Right, Role
from core.models import ApiToken, Membership
from tasks_app.models import Event, StopSwitch, Task
from tasks_app.models import Task as TaskModel
from tasks_app.services.access import token_create
from tasks_app.status import CallState
from tests.people import People
from tests.records import call_in

OURS = {"core", "tasks_app", "approvals_app", "notify", "chaos_app"}
EDITABLE = {"workspace", "membership", "apitoken", "stopswitch", "policyrule", "approvergroup"}
EDITABLE |= {"channel", "route", "alertrule"}
# Lists of a handful of rows.
SHORT = {"clusteridentity", "policybook", "pulse", "alertrule", "workspace"}


@pytest.fixture
def console(client_of, people: People, task: Task) -> Client:
    people.rhea.is_superuser = True  # runs the deployment, and administers this workspace
    people.rhea.save()
    Membership.objects.create(user=people.rhea, workspace=people.workspace, role=Role.ADMIN)
    call_in(task, "pay", CallState.ATTEMPTED, deadline=30.0)
    return client_of(people.rhea)


def said(people: People) -> list[tuple[str, Any, Any, str]]:
    events = Event.objects.filter(stream=people.workspace.pk).order_by("seq")
    return [(e.data["what"], e.data.get("before"), e.data.get("after_change"), e.actor) for e in events]


def models() -> list[type]:
    return [model for model in admin.site._registry if model._meta.app_label in OURS]


def test_each_cell_of_a_list_is_named_as_its_column_is(console: Client):
    shown = console.get(reverse("admin:tasks_app_task_changelist")).content.decode()
    row = shown.partition("<tbody")[2].partition("</tr>")[0]
    named = re.findall(r'<t[hd] role="(?:cell|rowheader)" data-label="([^"]+)"', row)
    columns = re.findall(r'<div class="text"><[^>]*>([^<]+)<', shown)
    assert named == columns
    assert len(named) > 3


def test_every_model_is_in_the_console_and_each_list_and_search_opens(console: Client):
    from django.apps import apps

    ours = {model for model in apps.get_models() if model._meta.app_label in OURS}
    assert ours <= set(admin.site._registry)
    for model in models():
        url = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        assert console.get(url).status_code == 200, model
        assert console.get(url, {"q": "pay"}).status_code == 200, model
        row = model.objects.first()
        if row is not None:
            view = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_change", args=[row.pk])
            assert console.get(view).status_code == 200, model


def test_the_console_names_each_kind_of_row_in_plain_english():
    for model in admin.site._registry:
        several = str(model._meta.verbose_name_plural)
        assert not re.search(r"([^aeiou]y|ch|sh|s|x)s$", several), several
        assert not re.search(r"\bapi\b|sign in link", several), several


def test_every_longer_list_can_be_searched_or_narrowed(console: Client):
    registered = admin.site._registry.items()
    bare = {m._meta.model_name for m, one in registered if not (one.search_fields or one.list_filter)}
    assert bare <= SHORT


def test_every_list_is_narrowed_and_sorted_by_each_of_its_columns(console: Client):
    for model, one in admin.site._registry.items():
        url = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        for column in range(1, len(one.list_display) + 1):
            assert console.get(url, {"o": str(column)}).status_code == 200, (model, column)


def test_a_second_factor_that_was_lost_is_taken_away_and_that_is_said(console: Client, people: People):
    factor = Authenticator.objects.create(user=people.silas, type="totp", data={"secret": "JBSWY3DPEHPK3PXP"})
    shown = console.get(reverse("admin:mfa_authenticator_change", args=[factor.pk])).content.decode()
    assert "JBSWY3DPEHPK3PXP" not in shown
    assert console.get(reverse("admin:mfa_authenticator_add")).status_code == 403
    console.post(reverse("admin:mfa_authenticator_delete", args=[factor.pk]), {"post": "yes"})
    assert not Authenticator.objects.exists()
    assert said(people) == [("second factor of silas", "totp", None, "person:rhea")]


def test_record_rows_cannot_be_added_changed_or_deleted(console: Client):
    for model in models():
        if model._meta.model_name in EDITABLE:
            continue
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        assert console.get(reverse(f"{name}_add")).status_code == 403, model
        row = model.objects.first()
        if row is None:
            continue
        assert console.post(reverse(f"{name}_change", args=[row.pk]), {"status": "completed"}).status_code == 403
        assert console.post(reverse(f"{name}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403
    assert TaskModel.objects.get().status == "queued"


def test_a_role_that_is_given_and_taken_is_in_the_stream(console: Client, people: People):
    data = {"user": people.tobin.pk, "workspace": people.workspace.pk, "role": "viewer"}
    assert console.post(reverse("admin:core_membership_add"), data).status_code == 302
    made = Membership.objects.get(user=people.tobin, workspace=people.workspace)
    assert console.post(reverse("admin:core_membership_delete", args=[made.pk]), {"post": "yes"}).status_code == 302
    assert said(people) == [
        ("roles of tobin", [], ["viewer"], "person:rhea"),
        ("roles of tobin", ["viewer"], [], "person:rhea"),
    ]


def test_a_token_is_shown_once_and_revoked_by_an_action(console: Client, people: People):
    data = {"workspace": people.workspace.pk, "user": people.silas.pk, "kind": "agent", "name": "ci"}
    answer = console.post(
        reverse("admin:core_apitoken_add"), data | {"scopes": ["tasks:read"], "days": "2"}, follow=True
    )
    token = ApiToken.objects.get()
    assert "shown this once" in answer.content.decode()
    assert token.hint in answer.content.decode()
    console.post(reverse("admin:core_apitoken_changelist"), {"action": "revoke", "_selected_action": [str(token.pk)]})
    token.refresh_from_db()
    assert token.revoked_at
    assert [what for what, *_ in said(people)] == ["token ci of silas"] * 2
    refused = console.post(
        reverse("admin:core_apitoken_add"), data | {"kind": "agent", "scopes": ["approvals:decide"], "days": "2"}
    )
    assert "can never decide" in refused.content.decode()


def test_a_token_and_a_stop_are_shown_as_they_are_not_as_their_forms_ask(console: Client, people: People):
    token, _ = token_create(
        workspace=people.workspace, user=people.silas, name="ci", scopes=[Right.TASKS_READ], days=2, actor="system"
    )
    shown = console.get(reverse("admin:core_apitoken_change", args=[token.pk])).content.decode()
    assert token.hint in shown
    assert "Expires at:" in shown
    assert "Days:" not in shown
    stop = StopSwitch.objects.create(
        scope="tool", name="ledger.pay", workspace=people.workspace, reason="fire", set_by=people.silas
    )
    shown = console.get(reverse("admin:tasks_app_stopswitch_change", args=[stop.pk])).content.decode()
    assert "Harbour" in shown
    assert "silas" in shown


def test_a_stop_is_set_and_lifted_through_its_service_and_names_what_may_still_send(console: Client, people: People):
    data = {"scope": "tool", "name": "ledger.pay", "reason": "wrong amounts", "said_in": people.workspace.pk}
    answer = console.post(reverse("admin:tasks_app_stopswitch_add"), data, follow=True)
    switch = StopSwitch.objects.get()
    assert (switch.workspace, switch.set_by) == (people.workspace, people.rhea)
    assert "may still send until" in answer.content.decode()
    console.post(reverse("admin:tasks_app_stopswitch_delete", args=[switch.pk]), {"post": "yes"})
    assert not StopSwitch.objects.exists()
    assert [what for what, *_ in said(people)] == ["stop tool ledger.pay"] * 2
    for wrong in ({"scope": "tool", "name": ""}, {"scope": "all", "name": "x"}):
        assert console.post(reverse("admin:tasks_app_stopswitch_add"), data | wrong).status_code == 200
    assert not StopSwitch.objects.exists()


def test_an_account_that_is_closed_or_raised_is_in_the_stream_of_its_workspaces(console: Client, people: People):
    url = reverse("admin:auth_user_change", args=[people.silas.pk])
    form = {"username": "silas", "date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
    assert console.post(url, form | {"is_superuser": "on"}).status_code == 302
    assert not User.objects.get(username="silas").is_active
    (what, before, after, actor) = said(people)[0]
    assert (what, actor) == ("account silas", "person:rhea")
    assert (before["is_active"], after["is_active"], after["is_superuser"]) == (True, False, True)
    assert console.post(url, form | {"is_superuser": "on", "first_name": "Silas"}).status_code == 302
    assert len(said(people)) == 1


def test_a_password_and_an_address_that_are_changed_are_said_and_never_shown(console: Client, people: People):
    word = reverse("admin:auth_user_password_change", args=[people.silas.pk])
    new = {"password1": "a new one, long enough", "password2": "a new one, long enough"}
    assert console.post(word, new | {"password2": "another"}).status_code == 200
    assert said(people) == []
    assert console.post(word, new | {"usable_password": "true"}).status_code == 302
    assert console.post(word, {"usable_password": "false", "unset-password": "1"}).status_code == 302
    assert console.post(word, new | {"usable_password": "true"}).status_code == 302
    assert said(people) == [
        ("password of silas", {"set": True}, {"set": True}, "person:rhea"),
        ("password of silas", {"set": True}, None, "person:rhea"),
        ("password of silas", None, {"set": True}, "person:rhea"),
    ]
    form = {"username": "silas", "is_active": "on", "date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
    url = reverse("admin:auth_user_change", args=[people.silas.pk])
    assert console.post(url, form | {"email": "silas@else.example"}).status_code == 302
    (what, before, after, _) = said(people)[-1]
    assert (what, before["email"], after["email"]) == ("account silas", "", "silas@else.example")
    kept = str(list(Event.objects.filter(stream=people.workspace.pk).values_list("data", flat=True)))
    assert "long enough" not in kept
    assert User.objects.get(username="silas").password not in kept


def test_what_changes_of_an_account_without_a_workspace_is_said_where_its_author_administers(
    console: Client, people: People
):
    Membership.objects.create(user=people.rhea, workspace=people.elsewhere, role=Role.VIEWER)
    assert (
        console.post(reverse("admin:auth_user_add"), {"username": "uma", "usable_password": "false"}).status_code == 302
    )
    assert [what for what, *_ in said(people)] == ["account uma"]
    assert not Event.objects.filter(stream=people.elsewhere.pk).exists()


def test_the_console_keeps_the_content_security_policy(console: Client):
    answer = console.get(reverse("admin:index"))
    assert "default-src 'none'" in answer["Content-Security-Policy"]
    assert "<script>" not in answer.content.decode()
    assert " style=" not in answer.content.decode()
