"""case-25: nothing but a person with a session and a right decides over HTTP."""

from uuid import uuid4

from django.test import Client
from django.urls import reverse

from tests.desk import (
    Desk,
    kinds,
    parked,
)
from tests.integration.approvals_app.test_pages import post, signed_in, status_of, url


def test_case_25_a_a_link_fetched_without_a_session_decides_nothing(desk: Desk):
    request = parked(desk)
    anonymous = Client()
    for _ in range(3):
        for answer in (
            anonymous.get(url(request)),
            anonymous.head(url(request)),
            anonymous.get(url(request), headers={"Purpose": "prefetch", "Sec-Purpose": "prefetch"}),
            anonymous.get(url(request), {"decision": "approved", "digest": request.digest}),
            post(anonymous, request),
        ):
            assert answer.status_code == 302
            assert answer.url.startswith("/sign-in/")
    assert status_of(request) == "requested"
    assert "approval.decided" not in kinds(request.task_id)


def test_case_25_b_rule_11_a_get_with_a_session_only_shows_the_card(desk: Desk):
    request = parked(desk)
    client = signed_in(desk.rhea)
    query = {"decision": "approved", "digest": request.digest}
    for answer in (client.get(url(request)), client.head(url(request)), client.get(url(request), query)):
        assert answer.status_code == 200
    assert client.put(url(request), query).status_code == 405
    assert client.get(reverse("approval-take-back", args=[request.pk])).status_code == 405
    assert client.get(reverse("approval-ask-again", args=[request.pk])).status_code == 405
    assert status_of(request) == "requested"


def test_case_25_c_a_post_without_the_csrf_mark_is_refused(desk: Desk):
    request = parked(desk)
    assert post(signed_in(desk.rhea, enforce_csrf_checks=True), request).status_code == 403
    assert status_of(request) == "requested"


def test_case_25_d_e_another_workspaces_approval_is_an_unknown_id(desk: Desk):
    request = parked(desk)
    tobin = signed_in(desk.tobin)
    unknown = reverse("approval", args=[uuid4()])
    answers = [
        tobin.get(url(request)),
        post(tobin, request),
        tobin.get(unknown),
        tobin.post(unknown, {"decision": "approved", "digest": request.digest}),
        tobin.post(reverse("approval-take-back", args=[request.pk])),
    ]
    assert [answer.status_code for answer in answers] == [404] * 5
    for answer in answers:
        assert request.line not in answer.content.decode()
    for counted in ("1", "2", "a-33", "0"):
        assert tobin.get(f"/approvals/{counted}/").status_code == 404
    assert request.line not in tobin.get(reverse("approvals")).content.decode()
    assert status_of(request) == "requested"
