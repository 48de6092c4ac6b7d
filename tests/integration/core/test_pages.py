"""The frame knows where one can go and what waits."""

from datetime import timedelta
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.test import Client
from django.urls import path

from approvals_app.models import ApprovalRequest
from approvals_app.rights import rights_anywhere
from approvals_app.status import Answer
from core.access import Right, Role
from core.clock import ClockTimestamp
from core.models import Membership
from core.urls import urlpatterns as product
from tests.desk import Desk, decide, desk_create, parked

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.urls(__name__)]


def plain(request: HttpRequest) -> HttpResponse:
    return render(request, "base.html")


names = {getattr(pattern, "name", None) for pattern in product}
missing = [path(f"{name}/", plain, name=name) for name in ("tasks", "approvals") if name not in names]
urlpatterns = [*product, *missing, path("plain/", plain), path("tasks/one/", plain)]


@pytest.fixture
def desk() -> Desk:
    return desk_create()


def page(user: Any, address: str = "/plain/") -> str:
    client = Client()
    client.force_login(user)
    return client.get(address).text


def title(user: Any) -> str:
    return page(user).partition("<title>")[2].partition("</title>")[0]


def test_the_title_counts_what_waits_for_the_reader(desk: Desk) -> None:
    assert title(desk.rhea) == "Handrail"
    first = parked(desk)
    parked(desk)
    assert title(desk.rhea) == "(2) Handrail"
    decide(first, desk.rhea, Answer.DENIED, reason="no")
    assert title(desk.rhea) == "(1) Handrail"


def test_what_one_may_not_decide_does_not_count(desk: Desk) -> None:
    parked(desk)
    assert title(desk.owen) == "Handrail"  # owns the task
    assert title(desk.vera) == "Handrail"  # only looks
    assert title(desk.tobin) == "Handrail"  # belongs to another workspace


def test_what_ran_out_does_not_count(desk: Desk) -> None:
    request = parked(desk)
    ApprovalRequest.objects.filter(pk=request.pk).update(decide_by=ClockTimestamp() - timedelta(seconds=1))
    assert title(desk.rhea) == "Handrail"


def test_only_places_that_exist_are_offered_and_the_console_only_to_administrators(desk: Desk) -> None:
    assert 'href="/tasks/"' in page(desk.rhea)
    assert ("/audit/" in page(desk.rhea)) == (Right.AUDIT_READ in rights_anywhere(user=desk.rhea))
    assert "/audit/" not in page(desk.vera)
    assert "/admin/" not in page(desk.rhea)
    desk.rhea.is_staff = desk.rhea.is_superuser = True
    desk.rhea.save()
    assert "/admin/" not in page(desk.rhea)  # a flag of an account is no right
    Membership.objects.create(user=desk.rhea, workspace=desk.workspace, role=Role.ADMIN)
    assert "/admin/" in page(desk.rhea)


def test_the_place_one_is_in_is_marked_also_on_pages_below_it(desk: Desk) -> None:
    assert 'href="/tasks/" data-go="t" aria-current="page"' in page(desk.rhea, "/tasks/one/")
    assert "aria-current" not in page(desk.rhea)


def test_who_is_not_signed_in_is_offered_nothing(desk: Desk) -> None:
    assert 'class="places"' not in Client().get("/plain/").text
