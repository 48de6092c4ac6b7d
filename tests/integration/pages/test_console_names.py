"""Records name people by their usernames, and so does the separation of duties: a name stays with whom it was given."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from core.access import Role
from core.models import Membership
from tests.people import People, person

DATES = {"date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}


@pytest.fixture(params=[False, True], ids=["administers a workspace", "runs the deployment"])
def console(client_of: Any, people: People, request: pytest.FixtureRequest) -> Client:
    Membership.objects.create(user=people.rhea, workspace=people.workspace, role=Role.ADMIN)
    User.objects.filter(pk=people.rhea.pk).update(is_superuser=request.param)
    return client_of(people.rhea)


def change(user: User) -> str:
    return reverse("admin:auth_user_change", args=[user.pk])


def test_an_account_keeps_its_username_and_the_console_says_why(console: Client, people: People):
    """Who started or edited a call would decide it under another name, and the next of that name be barred instead."""
    given = {"username": "sybil", "first_name": "Sybil", "is_active": "on"} | DATES
    for user in (people.silas, people.rhea):
        page = console.get(change(user)).content.decode()
        assert 'name="username"' not in page
        assert "A username stays as it was given" in page
        assert console.post(change(user), given).status_code == 302
        user.refresh_from_db()
    assert (people.silas.username, people.silas.first_name, people.rhea.username) == ("silas", "Sybil", "rhea")


def test_an_account_is_closed_and_never_deleted_so_that_its_name_goes_to_nobody_else(console: Client, people: People):
    uma = person("uma", people.workspace, Role.VIEWER)  # has done nothing that would keep her in the database
    assert console.post(reverse("admin:auth_user_delete", args=[uma.pk]), {"post": "yes"}).status_code == 403
    several = {"action": "delete_selected", "_selected_action": [str(uma.pk)], "post": "yes"}
    console.post(reverse("admin:auth_user_changelist"), several)
    assert console.post(change(uma), {"first_name": "Uma"} | DATES).status_code == 302
    assert not User.objects.get(pk=uma.pk).is_active
    again = console.post(reverse("admin:auth_user_add"), {"username": "uma", "usable_password": "false"})
    assert "already exists" in again.content.decode()
    assert User.objects.get(username="uma") == uma
