"""A list that is read part by part goes on from where the part before ended, whatever became of its last row."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from approvals_app.models import ApprovalRequest, ApprovalView
from approvals_app.services.expire import approvals_expire
from core.clock import ClockTimestamp, database_now
from tests.desk import Desk, group, parked, rule
from tests.integration.approvals_app.rules import fresh, past

ALL = "/api/v1/approvals"
Changes = Callable[[ApprovalRequest], None]


def escalate(request: ApprovalRequest) -> None:
    past(request, "decide_by")
    approvals_expire()
    assert fresh(request).decide_by > database_now() + timedelta(seconds=50)


def keep(request: ApprovalRequest) -> None:
    ApprovalRequest.objects.filter(pk=request.pk).update(decide_by=None, overdue_at=ClockTimestamp())


def purge(request: ApprovalRequest) -> None:
    ApprovalView.objects.filter(request=request.pk).delete()
    ApprovalRequest.objects.filter(pk=request.pk).delete()


@pytest.fixture
def requests(desk: Desk) -> list[ApprovalRequest]:
    """Five, ten seconds apart; the last row of the first part will move behind the others."""
    group(desk, "leads", desk.silas)
    rule(desk, "leads", "true", on_expiry="escalate", escalate_to="leads", decide_within=60.0)
    made = [parked(desk, arguments={"path": f"/{number}"}) for number in range(5)]
    for number, request in enumerate(made):
        soon = ClockTimestamp() + timedelta(seconds=5 + 10 * number)
        ApprovalRequest.objects.filter(pk=request.pk).update(decide_by=soon)
    return made


def signed_in(desk: Desk) -> Client:
    client = Client()
    client.force_login(desk.rhea)
    return client


def of_api(client: Client, part: str) -> tuple[list[str], str]:
    page = client.get(f"{ALL}?limit=2{part}").json()
    return [row["id"] for row in page["approvals"]], f"&after={page['next']}" if page["next"] else ""


def of_desk(client: Client, part: str) -> tuple[list[str], str]:
    context = client.get(part or f"{reverse('approvals')}?shelf=team").context
    return [str(row.pk) for row in context["entries"]], context["next_url"]


@pytest.mark.parametrize("change", [escalate, keep, purge])
@pytest.mark.parametrize("read", [of_api, of_desk])
def test_what_follows_the_last_row_of_a_part_is_listed_though_that_row_moved_or_went(
    desk: Desk, requests: list[ApprovalRequest], read: Callable, change: Changes, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("approvals_app.selectors.desk.ROWS", 2)
    monkeypatch.setattr("approvals_app.selectors.desk.GROUPED", 100)
    client, ids = signed_in(desk), [str(request.pk) for request in requests]
    first, on = read(client, "")
    assert first == ids[:2]
    change(requests[1])
    second, on = read(client, on)
    assert second == ids[2:4]
    third, on = read(client, on)
    assert (third, on) == (ids[4:] + ([] if change is purge else [ids[1]]), "")


def test_an_id_alone_goes_on_from_where_its_row_stands_as_it_did_once(desk: Desk, requests: list[ApprovalRequest]):
    client, ids = signed_in(desk), [str(request.pk) for request in requests]
    assert of_api(client, f"&after={ids[1]}")[0] == ids[2:4]
    assert of_api(client, f"&after={desk.workspace.pk}")[0] == ids[:2]  # of no row here: from the beginning


@pytest.mark.parametrize("nonsense", ["x", "1.2", f"{'0' * 32}.x", f"{'0' * 32}.{'9' * 40}", "0" * 101, "\x00"])
def test_what_is_no_place_is_refused(desk: Desk, nonsense: str):
    client = signed_in(desk)
    assert client.get(ALL, {"after": nonsense}).status_code == 422
    assert client.get(reverse("approvals"), {"after": nonsense}).status_code == 404
