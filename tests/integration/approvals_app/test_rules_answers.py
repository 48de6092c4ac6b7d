"""Rules 8 to 11: siblings are separate, no means no, a cancel voids, a GET decides nothing."""

import pytest
from django.test import Client
from django.urls import reverse

from approvals_app.services.reopen import approval_reopen
from approvals_app.status import Answer, Outcome
from core.errors import Conflict
from tasks_app.models import Event, Task
from tests.desk import (
    CLEAN,
    GATE,
    Clean,
    Desk,
    as_person,
    attempt,
    cancel,
    claim,
    decide,
    kinds,
    park,
    parked,
    propose,
    rule,
    task_create,
)
from tests.integration.approvals_app.rules import fresh


def test_rule_08_siblings_with_equal_arguments_are_separate_and_answered_in_any_order(desk: Desk):
    task = task_create(desk)
    token = claim(task)
    one = propose(task, CLEAN, "c-1", {"path": "/a"}, token=token)
    two = propose(task, CLEAN, "c-2", {"path": "/a"}, token=token, ordinal=1)
    park(task, token)
    assert one.pk != two.pk
    assert one.digest == two.digest
    decide(two, desk.rhea)
    token = claim(task)
    assert attempt(task.pk, "c-2", token).admitted  # starts at once; its sibling still waits
    assert attempt(task.pk, "c-1", token).call_state == "asked"
    decide(one, desk.rhea, Answer.DENIED)
    assert (fresh(one).status, fresh(two).status) == ("denied", "consumed")


def test_rule_09_no_means_no_until_a_person_asks_for_it_again(desk: Desk):
    request = parked(desk)
    decide(request, desk.rhea, Answer.DENIED, reason="keep the logs")

    def said(**arguments):
        whole = Clean(**arguments).model_dump()
        return GATE.assess(task=Task.objects.get(pk=request.task_id), contract=CLEAN, arguments=whole)

    assert said(path="/scratch/a").outcome == "deny"
    assert "keep the logs" in said(path="/scratch/a").reason
    assert said(path="/scratch/b").outcome == "ask"
    rule(desk, "clean freely", "tool == 'desk.clean'", Outcome.ALLOW)
    assert said(path="/scratch/a").outcome == "deny"  # a rule that allows does not take a person's no back
    approval_reopen(approval=request.pk, principal=as_person(desk.silas, desk.workspace), reason="now it may go")
    assert said(path="/scratch/a").outcome == "ask"


def test_rule_10_a_cancel_voids_every_pending_and_unused_approval_in_its_transaction(desk: Desk):
    rule(desk, "two", "arguments.path == '/b'", quorum=2)
    task = task_create(desk)
    token = claim(task)
    requests = [
        propose(task, CLEAN, f"c-{number}", {"path": path}, token=token, ordinal=number)
        for number, path in enumerate(["/a", "/b", "/c"])
    ]
    park(task, token)
    decide(requests[0], desk.rhea)
    decide(requests[1], desk.rhea)  # one of two
    cancel(task.pk)
    assert [fresh(one).status for one in requests] == ["voided"] * 3
    voided = Event.objects.filter(stream=task.pk, kind="approval.voided").values_list("at", flat=True)
    assert set(voided) == {Event.objects.get(stream=task.pk, kind="task.cancel_requested").at}
    with pytest.raises(Conflict, match="Withdrawn: task cancelled"):
        decide(requests[1], desk.silas)


def test_rule_11_case_25_a_get_never_decides_and_a_stranger_reads_what_anybody_reads(desk: Desk):
    request = parked(desk)
    page = reverse("approval", args=[request.pk])
    stranger, rhea, tobin = Client(), Client(enforce_csrf_checks=True), Client()
    rhea.force_login(desk.rhea)
    tobin.force_login(desk.tobin)
    post = {"decision": "approved", "digest": request.digest, "reason": ""}
    for _ in range(3):
        stranger.get(page, headers={"Purpose": "prefetch"})
        stranger.head(page)
        rhea.get(page, post)
        rhea.get(f"/api/v1/approvals/{request.pk}/decide", post)
    assert rhea.post(page, post).status_code == 403
    unknown = reverse("approval", args=["01900000-0000-7000-8000-000000000000"])
    answers = [tobin.get(page), tobin.post(page, post), tobin.get(unknown), tobin.post(unknown, post)]
    assert {answer.status_code for answer in answers} == {404}
    assert (fresh(request).status, kinds(request.task_id).count("approval.decided")) == ("requested", 0)
