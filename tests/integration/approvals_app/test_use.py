"""T1: what was approved is what runs, once, while it is still allowed (rules 1, 2, 4, 5 and 10; A05)."""

from dataclasses import replace
from datetime import timedelta

import pytest
from pydantic import BaseModel

from approvals_app.models import ApprovalRequest
from approvals_app.services.expire import approvals_expire, approvals_void_changed
from core.clock import ClockTimestamp
from core.errors import Conflict
from tasks_app import registry
from tasks_app.models import Call, Event, Status, Task
from tasks_app.record.append import Stale
from tests.desk import CLEAN, PAY, SCAN, Desk, attempt, cancel, claim, decide, kinds, park, parked, propose, task_create


class Other(BaseModel):
    path: str
    force: bool = True


def approved(desk: Desk, **more) -> ApprovalRequest:
    request = parked(desk, **more)
    decide(request, desk.rhea)
    request.refresh_from_db()
    return request


def _past(request: ApprovalRequest, column: str) -> None:
    ApprovalRequest.objects.filter(pk=request.pk).update(**{column: ClockTimestamp() - timedelta(seconds=1)})


def test_rule_1_bound_another_digest_at_the_use_voids_and_nothing_starts(desk: Desk):
    request = approved(desk)
    said = attempt(request.task_id, "clean", claim(request.task), digest="0" * 64)
    assert (said.admitted, said.call_state) == (False, "voided")
    assert kinds(request.task_id)[-1] == "approval.voided"
    assert "call.attempted" not in kinds(request.task_id)


def test_rule_2_once_a_crash_after_the_use_never_gives_it_back_and_a_resend_stays_under_it(desk: Desk):
    request = approved(desk)
    token = claim(request.task)
    assert attempt(request.task_id, "clean", token).admitted
    park(request.task, token)  # the worker is lost, another takes over
    again = attempt(request.task_id, "clean", claim(request.task))
    assert again.admitted
    assert again.events == ()
    assert kinds(request.task_id).count("approval.consumed") == 1
    assert (
        list(
            Event.objects.filter(stream=request.task_id, kind="call.attempted").values_list(
                "data__under_approval", flat=True
            )
        )
        == [str(request.pk)] * 2
    )
    # Neither rights nor policy are asked again.
    desk.rhea.memberships.all().delete()
    assert attempt(request.task_id, "clean", claim(request.task)).admitted


def test_rule_2_a_resend_after_must_run_by_is_refused(desk: Desk):
    request = approved(desk)
    token = claim(request.task)
    assert attempt(request.task_id, "clean", token).admitted
    _past(request, "run_by")
    said = attempt(request.task_id, "clean", token)
    assert (said.admitted, said.call_state, said.events) == (False, "refused", ())
    assert ApprovalRequest.objects.get(pk=request.pk).status == "consumed"


def test_rule_4_an_approval_that_is_too_old_lapses_instead_of_running(desk: Desk):
    request = approved(desk)
    _past(request, "run_by")
    said = attempt(request.task_id, "clean", claim(request.task))
    assert (said.admitted, said.call_state) == (False, "lapsed")
    assert ApprovalRequest.objects.get(pk=request.pk).status == "lapsed"
    assert kinds(request.task_id)[-1] == "approval.lapsed"


def test_a_call_that_nobody_has_answered_is_not_admitted_whatever_the_worker_believes(desk: Desk):
    request = parked(desk)
    said = attempt(request.task_id, "clean", claim(request.task))
    assert (said.admitted, said.call_state) == (False, "asked")
    ApprovalRequest.objects.all().delete()
    lost = attempt(request.task_id, "clean", claim(request.task))
    assert (lost.admitted, lost.call_state) == (False, "refused")


def test_a_call_that_needs_nobody_is_admitted_without_a_request(desk: Desk):
    task = task_create(desk)
    token = claim(task)
    assert propose(task, SCAN, "scan", {"path": "/"}, token=token) is None
    assert attempt(task.pk, "scan", token, contract=SCAN).admitted


def test_rule_5_a_tool_of_another_version_or_schema_voids_unless_it_continues(desk: Desk):
    for changed, admitted in (
        (replace(CLEAN, version=2), False),
        (replace(CLEAN, arguments=Other), False),
        (replace(CLEAN, version=2, arguments=Other, continues=frozenset({1})), True),
    ):
        request = approved(desk)
        said = attempt(request.task_id, "clean", claim(request.task), contract=changed)
        assert said.admitted == admitted, said.reason
        assert admitted or "tool changed" in said.reason


def test_case_11_variant_2_a_changed_tool_cannot_be_approved_and_then_fail(desk: Desk, monkeypatch):
    request, swept = parked(desk), parked(desk)
    changed = {key: value for key, value in registry._tools.items() if key != ("desk.clean", 1)}
    monkeypatch.setattr(registry, "_tools", changed | {("desk.clean", 2): replace(CLEAN, version=2)})
    with pytest.raises(Conflict, match=r"tool changed: desk\.clean is now at version 2"):
        decide(request, desk.rhea)
    assert approvals_void_changed() == 1
    for one in (request, swept):
        task = Task.objects.get(pk=one.task_id)
        assert (task.status, Call.objects.get(task=task).state) == (Status.QUEUED, "voided")
    assert approvals_void_changed() == 0


def test_rule_10_case_16_a_cancel_voids_everything_and_an_approve_is_told_so(desk: Desk):
    task = task_create(desk)
    token = claim(task)
    first = propose(task, CLEAN, "a-21", {"path": "/a"}, token=token)
    second = propose(task, CLEAN, "a-22", {"path": "/b"}, token=token, ordinal=1)
    park(task, token)
    decide(second, desk.rhea)
    cancel(task.pk)
    with pytest.raises(Conflict, match="Withdrawn: task cancelled"):
        decide(first, desk.rhea)
    with pytest.raises(Conflict, match=r"Already approved by rhea at .* Withdrawn: task cancelled"):
        decide(second, desk.rhea)  # approved and then cancelled is shown as such
    assert set(ApprovalRequest.objects.values_list("status", flat=True)) == {"voided"}
    assert kinds(task.pk).count("approval.voided") == 2


def test_case_16_c_a_cancel_between_decision_and_attempt_stops_the_attempt(desk: Desk):
    request = approved(desk)
    token = claim(request.task)
    cancel(request.task_id)
    assert not attempt(request.task_id, "clean", token).admitted
    assert "call.attempted" not in kinds(request.task_id)


def test_case_16_nothing_new_can_be_asked_for_a_cancelled_task(desk: Desk):
    task = task_create(desk)
    token = claim(task)
    cancel(task.pk)
    with pytest.raises(Stale, match="not running"):
        propose(task, PAY, "pay", {"amount": "1.00"}, token=token)
    assert not ApprovalRequest.objects.exists()


def test_the_sweeper_expires_and_lapses_once_and_wakes_the_task(desk: Desk):
    late, unused, waiting = parked(desk), approved(desk), parked(desk)
    _past(late, "decide_by")
    _past(unused, "run_by")
    assert approvals_expire() == 2
    assert approvals_expire() == 0
    for request, state in ((late, "expired"), (unused, "lapsed")):
        task = Task.objects.get(pk=request.task_id)
        assert (task.status, Call.objects.get(task=task).state) == (Status.QUEUED, state)
        assert task.wake_at is not None
    assert Task.objects.get(pk=waiting.task_id).status == Status.WAITING


def test_an_aborted_attempt_leaves_the_approval_unused(desk: Desk):
    request = approved(desk)
    token = claim(request.task)
    Task.objects.filter(pk=request.task_id).update(lease_nonce=request.pk)  # another worker's by now
    with pytest.raises(Stale):
        attempt(request.task_id, "clean", token)
    assert ApprovalRequest.objects.get(pk=request.pk).status == "approved"
