"""Figures: how long calls wait, how often people say no, and whether they read first."""

from datetime import timedelta

from django.test import Client
from django.urls import reverse

from approvals_app.models import ApprovalAnswer, ApprovalRequest, ApprovalView
from approvals_app.selectors.figures import approval_figures, figures_csv
from approvals_app.services.presented import approval_opened, approvals_presented
from approvals_app.status import Answer, Via
from core.clock import ClockTimestamp, database_now
from tests.desk import PAY, Desk, as_person, parked


def answered(
    desk: Desk, user, decision=Answer.APPROVED, *, waited: float, looked: float | None, **more
) -> ApprovalAnswer:
    from approvals_app.services.decide import approval_decide

    request = parked(desk, **more)
    if looked is not None:
        approval_opened(approval=request.pk, user=user)
        opened = ClockTimestamp() - timedelta(seconds=looked)
        ApprovalView.objects.filter(request=request).update(opened_at=opened)
    asked = ClockTimestamp() - timedelta(seconds=waited)
    ApprovalRequest.objects.filter(pk=request.pk).update(requested_at=asked)
    principal = as_person(user, desk.workspace)
    approval_decide(
        approval=request.pk, principal=principal, decision=decision, reason="", digest=request.digest, via=Via.PAGE
    )
    return ApprovalAnswer.objects.get(request=request, user=user)


def test_what_was_seen_first_stays_noted_and_looking_again_changes_nothing(desk: Desk):
    request = parked(desk)
    approvals_presented(approvals=[request.pk], user=desk.rhea)
    presented = ApprovalView.objects.get().presented_at
    approval_opened(approval=request.pk, user=desk.rhea)
    opened = ApprovalView.objects.get().opened_at
    approvals_presented(approvals=[request.pk], user=desk.rhea)
    approval_opened(approval=request.pk, user=desk.rhea)
    view = ApprovalView.objects.get()
    assert (view.presented_at, view.opened_at, view.reviewed_at) == (presented, opened, None)
    assert presented < opened


def test_an_answer_faster_than_the_card_can_be_read_is_marked(desk: Desk):
    assert answered(desk, desk.rhea, waited=9, looked=0.2).hasty
    assert not answered(desk, desk.rhea, waited=9, looked=3).hasty
    assert answered(desk, desk.rhea, waited=9, looked=None).hasty  # nobody had opened it
    assert answered(desk, desk.rhea, waited=9, looked=3, arguments={"path": "/long" * 200}).hasty


def signed_in(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


def hasty(*requests: ApprovalRequest) -> list[bool]:
    return list(ApprovalAnswer.objects.filter(request__in=requests).order_by("request").values_list("hasty", flat=True))


def ago(seconds: float, **more: object) -> None:
    """Let everything that was seen have been seen so long ago."""
    moment = ClockTimestamp() - timedelta(seconds=seconds)
    for column in ("presented_at", "opened_at"):
        ApprovalView.objects.filter(**{f"{column}__isnull": False}, **more).update(**{column: moment})


def test_what_is_read_and_answered_together_is_marked_only_where_it_was_faster_than_all_of_it(desk: Desk):
    address, rhea = reverse("approvals-together"), signed_in(desk.rhea)
    for seconds, expected in ((2.5, True), (30.0, False)):
        requests = [parked(desk, arguments={"path": f"/scratch/{'a' * 100}{number}"}) for number in range(3)]
        ids = [str(request.pk) for request in requests]
        assert rhea.get(address, {"id": ids}).status_code == 200
        ago(seconds)
        digests = {f"digest-{request.pk}": request.digest for request in requests}
        rhea.post(address, {"id": ids, "decision": "approved", **digests})
        assert hasty(*requests) == [expected] * 3


def test_denying_all_of_a_runaway_is_no_haste(desk: Desk):
    requests = [parked(desk, arguments={"path": f"/{number}"}) for number in range(4)]
    kind = {"agent": "desk.agent", "tool": "desk.clean", "rule": "contract", "workspace": desk.workspace.slug}
    signed_in(desk.rhea).post(reverse("approvals-deny-all"), kind | {"reason": "wild"})
    assert hasty(*requests) == [False] * 4


def test_the_card_beside_the_list_counts_as_opened_once_the_page_says_that_it_is_shown(desk: Desk):
    request, rhea = parked(desk), signed_in(desk.rhea)
    page = rhea.get(reverse("approvals"))
    view = ApprovalView.objects.get()
    assert (view.presented_at is None, view.opened_at) == (False, None)
    ago(30)
    rhea.get(f"{reverse('approvals-live')}?{page.context['live']}&looking={request.pk}")
    assert ApprovalView.objects.get().opened_at > view.presented_at
    decision = {"decision": "approved", "digest": request.digest, "reason": ""}
    rhea.post(reverse("approval", args=[request.pk]), decision)
    assert hasty(request) == [True]


def test_what_was_listed_and_answered_beside_the_list_without_scripts_was_read_since_it_was_listed(desk: Desk):
    request, rhea = parked(desk), signed_in(desk.rhea)
    rhea.get(reverse("approvals"))
    ago(30)
    rhea.post(reverse("approval", args=[request.pk]), {"decision": "approved", "digest": request.digest, "reason": ""})
    assert hasty(request) == [False]


def test_waiting_times_refusals_and_haste_by_tool_and_by_person(desk: Desk):
    for waited in (10, 20, 30):
        answered(desk, desk.rhea, waited=waited, looked=5)
    answered(desk, desk.silas, Answer.DENIED, waited=100, looked=0.1)
    answered(desk, desk.silas, waited=50, looked=8, contract=PAY, name="pay")
    parked(desk)
    figures = approval_figures(workspaces=[desk.workspace.pk], since=database_now() - timedelta(hours=1))
    assert (figures.all.asked, figures.all.approved, figures.all.denied, figures.all.refusals) == (6, 4, 1, 0.2)
    clean = next(line for line in figures.by_tool if line.name == "desk.clean")
    assert (clean.asked, clean.denied, clean.refusals, clean.hasty) == (5, 1, 0.25, 1)
    assert 25 <= clean.waited_p50 < 27
    assert 89 <= clean.waited_p95 < 92
    rhea, silas = figures.by_person
    assert (rhea.name, rhea.asked, rhea.hasty, silas.asked, silas.denied, silas.hasty) == ("rhea", 3, 0, 2, 1, 1)
    assert 20 <= rhea.waited_p50 < 22
    assert 5 <= rhea.looked_p50 < 7
    later = approval_figures(workspaces=[desk.workspace.pk], since=database_now())
    assert (later.all.asked, later.all.refusals, later.all.waited_p50) == (0, None, None)


def test_figures_are_exported_as_json_and_as_a_table_that_runs_no_formula(desk: Desk):
    desk.rhea.username = "=cmd"
    desk.rhea.save()
    answered(desk, desk.rhea, waited=10, looked=5)
    client = Client()
    client.force_login(desk.silas)
    body = client.get("/api/v1/approvals/figures?days=1").json()
    assert [(line["of"], line["name"]) for line in body["figures"]] == [
        ("all", ""),
        ("tool", "desk.clean"),
        ("person", "=cmd"),
    ]
    table = client.get("/api/v1/approvals/figures.csv?days=1")
    assert table["Content-Type"].startswith("text/csv")
    lines = table.content.decode().splitlines()
    assert lines[0].startswith("of,name,asked,approved,denied")
    assert lines[3].startswith("person,'=cmd,1,1,0")
    since = database_now() - timedelta(hours=1)
    assert len(figures_csv(approval_figures(workspaces=[desk.workspace.pk], since=since)).splitlines()) == 4
