"""What the desk's first part would show and the page does not waits behind a link, however old it is."""

import pytest
from django.test import Client
from django.urls import reverse

from approvals_app.models import ApprovalRequest, ApproverGroup
from approvals_app.services.expire import approvals_expire
from tests.desk import CLEAN, PAY, Desk, decide, group, parked, rule
from tests.integration.approvals_app.rules import fresh, past


def signed_in(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


def desk_of(client: Client, shelf: str) -> str:
    """Return the address of what a page of this shelf is told."""
    shown = client.get(reverse("approvals"), {"shelf": shelf}).context
    return f"{reverse('approvals-live')}?{shown['live']}"


def told(client: Client, address: str) -> str:
    return str(client.get(address).json()["html"])


def test_an_older_card_that_is_passed_on_to_a_group_is_new_on_the_desk_of_its_people(desk: Desk):
    group(desk, "leads", desk.silas)
    group(desk, "others", desk.rhea)
    rule(desk, "old", 'tool == "desk.clean"', group="others", on_expiry="escalate", escalate_to="leads")
    rule(desk, "new", 'tool == "desk.pay"', group="leads")
    older, newer = parked(desk, CLEAN), parked(desk, PAY, name="pay")
    silas = signed_in(desk.silas)
    address = desk_of(silas, "mine")
    assert "Show" not in told(silas, address)
    past(older, "decide_by")
    assert approvals_expire() == 1
    assert (fresh(older).group, older.pk < newer.pk) == ("leads", True)
    assert "Show 1 new" in told(silas, address)
    assert "Show" not in told(silas, desk_of(silas, "mine"))


def test_whoever_joins_a_group_finds_what_it_was_asked_before_behind_the_link(desk: Desk):
    leads = group(desk, "leads", desk.silas)
    rule(desk, "old", 'tool == "desk.clean"', group="leads")
    parked(desk, CLEAN), parked(desk, PAY, name="pay")
    rhea = signed_in(desk.rhea)
    address = desk_of(rhea, "mine")
    ApproverGroup.objects.get(pk=leads.pk).members.add(desk.rhea)
    assert "Show 1 new" in told(rhea, address)


@pytest.mark.parametrize("shelf", ["decided", "expired"])
def test_an_old_card_that_ends_now_is_new_on_the_shelf_that_it_comes_to(desk: Desk, shelf: str):
    older, newer = parked(desk), parked(desk, arguments={"path": "/scratch/b"})
    rhea = signed_in(desk.rhea)

    def end(request: ApprovalRequest) -> None:
        if shelf == "decided":
            decide(request, desk.silas)
            return
        past(request, "decide_by")
        approvals_expire()

    end(newer)
    address = desk_of(rhea, shelf)
    assert "Show" not in told(rhea, address)
    end(older)
    assert "Show 1 new" in told(rhea, address)


def test_what_stands_in_a_group_of_the_page_is_not_new_and_what_is_alone_is(desk: Desk):
    for number in range(4):
        parked(desk, arguments={"path": f"/scratch/{number}"})
    rhea = signed_in(desk.rhea)
    address = desk_of(rhea, "mine")
    parked(desk, arguments={"path": "/scratch/more"})
    assert "Show" not in told(rhea, address)
    parked(desk, PAY, name="pay")
    assert "Show 1 new" in told(rhea, address)
