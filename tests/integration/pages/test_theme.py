"""Who changes the colours without scripts is back on the page that they saw, also where it answered a form."""

import re
from html import unescape
from uuid import uuid4

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from core.access import Role
from core.models import Membership
from tasks_app.models import Task
from tests.desk import desk_create, parked
from tests.people import People

HOST = "http://testserver"


@pytest.fixture
def rhea(client_of, people: People) -> Client:
    for role in set(Role) - {Role.ENGINEER, Role.APPROVER}:
        Membership.objects.create(user=people.rhea, workspace=people.workspace, role=role)
    return client_of(people.rhea)


def way_back(shown: HttpResponse) -> str:
    """Return where the theme's form says that its reader was."""
    found = re.search(rf'action="{reverse("theme")}".*?name="next" value="([^"]*)"', shown.content.decode(), re.S)
    assert found
    return unescape(found[1])


def changed(client: Client, shown: HttpResponse) -> str:
    """Change the theme as the page's form does; return the address of the page that is shown then."""
    back = client.post(reverse("theme"), {"theme": "dark", "next": way_back(shown)}, follow=True)
    assert back.status_code == 200
    assert 'data-theme="dark"' in back.content.decode()
    return back.redirect_chain[-1][0]


def test_a_page_that_was_asked_for_is_shown_again_as_it_was(rhea: Client):
    address = reverse("tasks") + "?owner=rhea&status=failed"
    assert changed(rhea, rhea.get(address)) == address


def test_after_a_refused_view_one_is_back_at_the_list_with_its_filter_however_often_it_was_sent(rhea: Client):
    sent = {"owner": "rhea", "name": " "}
    for came in (reverse("tasks"), reverse("saved-view-add")):
        refused = rhea.post(reverse("saved-view-add"), sent, headers={"referer": HOST + came})
        assert refused.status_code == 422
        assert changed(rhea, refused) == reverse("tasks") + "?owner=rhea"


def test_every_page_that_answers_a_refused_order_leads_back_to_itself(rhea: Client, task: Task):
    of_task = reverse("task", args=[task.pk])
    orders = {
        reverse("worker-drain"): reverse("workers"),
        reverse("credential-revoke"): reverse("credentials"),
        reverse("task-act", args=[task.pk, "signal"]): of_task,
    }
    for order, page in orders.items():
        refused = rhea.post(order, headers={"referer": HOST + order})
        assert refused.status_code == 422, order
        assert changed(rhea, refused) == page


def test_from_a_page_that_says_what_failed_one_is_back_where_the_form_stood(rhea: Client):
    lost = reverse("task-act", args=[uuid4(), "pause"])
    assert changed(rhea, rhea.post(lost, headers={"referer": f"{HOST}/tasks/?owner=rhea"})) == "/tasks/?owner=rhea"


@pytest.mark.parametrize("came", ["", "https://elsewhere.example/tasks/", "http://[", "javascript:alert(1)"])
def test_where_nobody_says_where_it_stood_one_is_at_the_start(rhea: Client, came: str):
    lost = reverse("task-act", args=[uuid4(), "pause"])
    assert way_back(rhea.post(lost, headers={"referer": came} if came else {})) == "/"


def test_a_theme_leads_to_no_other_site(rhea: Client):
    for back in ("https://elsewhere.example/", "//elsewhere.example/", "/\\elsewhere.example"):
        assert rhea.post(reverse("theme"), {"theme": "dark", "next": back})["Location"] == "/"


def test_the_card_that_answers_a_refused_order_leads_back_to_itself(client_of, transactional_db: None):
    desk = desk_create()
    card = reverse("approval", args=[parked(desk).pk])
    order = f"{card}take-back/"
    refused = client_of(desk.rhea).post(order, {"reason": "a mistake"}, headers={"referer": HOST + order})
    assert refused.status_code == 409
    assert changed(client_of(desk.rhea), refused).partition("?")[0] == card
