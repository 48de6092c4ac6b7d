"""Workspaces in the console: added and renamed by their service, the head of their stream left alone."""

from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client, RequestFactory
from django.urls import reverse

from core.access import Role
from core.models import Membership, Workspace
from tasks_app.models import Event
from tasks_app.record.append import append_administration
from tasks_app.record.events import RoleChanged
from tests.people import People


@pytest.fixture
def runs_all(people: People) -> User:
    people.rhea.is_superuser = True
    people.rhea.save()
    Membership.objects.create(user=people.rhea, workspace=people.workspace, role=Role.ADMIN)
    return people.rhea


def said(workspace: Workspace) -> list[tuple[str, Any, Any, str]]:
    events = Event.objects.filter(stream=workspace.pk).order_by("seq")
    return [(e.data["what"], e.data.get("before"), e.data.get("after_change"), e.actor) for e in events]


def test_a_workspace_is_added_and_renamed_and_its_stream_says_by_whom(client_of: Any, runs_all: User):
    console: Client = client_of(runs_all)
    assert console.post(reverse("admin:core_workspace_add"), {"name": "New", "slug": "new"}).status_code == 302
    made = Workspace.objects.get(slug="new")
    Membership.objects.create(user=runs_all, workspace=made, role=Role.ADMIN)
    address = reverse("admin:core_workspace_change", args=[made.pk])
    for _ in range(2):  # again changes nothing, and says nothing
        assert console.post(address, {"name": "Newer", "keep_days": "90"}).status_code == 302
    made = Workspace.objects.get(slug="new")
    assert (made.name, made.keep_days) == ("Newer", 90)
    assert console.post(address, {"name": "Newer", "keep_days": "0"}).status_code == 200  # with what is wrong
    assert said(made) == [
        ("workspace new", None, {"name": "New"}, "person:rhea"),
        (
            "workspace new",
            {"name": "New", "keep_days": None},
            {"name": "Newer", "keep_days": 90},
            "person:rhea",
        ),
    ]


def test_what_is_appended_while_a_workspace_is_renamed_stays_in_its_chain(runs_all: User, people: People):
    """The row that a form has read is old when it is saved."""
    request = RequestFactory().post("/")
    request.user = runs_all
    read = Workspace.objects.get(pk=people.workspace.pk)
    event = RoleChanged(what="roles of silas", before=[], after_change=["viewer"])
    append_administration(workspace=read.pk, events=[event], actor="person:silas")
    read.name = "Haven"
    admin.site._registry[Workspace].save_model(request, read, None, change=True)
    now = Workspace.objects.get(pk=people.workspace.pk)
    last = Event.objects.filter(stream=now.pk).order_by("seq").last()
    assert last is not None
    assert (now.name, now.head_seq, bytes(now.head_digest)) == ("Haven", 2, bytes(last.digest))


def test_a_short_name_that_addresses_cannot_carry_is_refused_at_its_field(client_of: Any, runs_all: User):
    shown = client_of(runs_all).post(reverse("admin:core_workspace_add"), {"name": "New", "slug": "new_one"})
    assert "letters, digits and hyphens" in shown.content.decode()
    assert not Workspace.objects.filter(name="New").exists()
