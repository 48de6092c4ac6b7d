"""Who could decide what is edited is said before it is sent, and a way out where nobody could."""

from django.test import Client
from django.urls import reverse

from approvals_app.models import ApprovalRequest
from approvals_app.selectors.deciders import deciders_now, deciders_of_edit
from core.access import Role
from core.models import Membership
from tests.desk import CLEAN, MOVE, Desk, decide, group, parked, rule
from tests.people import person


def signed_in(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


def form(desk: Desk, request: ApprovalRequest, user) -> str:
    return signed_in(user).get(reverse("approval-edit", args=[request.pk])).content.decode()


def test_the_form_says_who_could_decide_the_edited_call_and_the_answer_says_it_again(desk: Desk):
    request = parked(desk, MOVE, name="move", arguments={"amount": "90.00"})
    assert "It can be decided by silas." in form(desk, request, desk.rhea)  # owen owns the task, vera may only look
    sent = {"edit-amount": "10.00", "reason": "too much", "digest": request.digest}
    page = signed_in(desk.rhea).post(reverse("approval-edit", args=[request.pk]), sent, follow=True).content.decode()
    assert "Your edit is a new call, and the old one is withdrawn. It can be decided by silas." in page
    assert "somebody else has to decide. It can be decided by silas." in page


def test_the_form_warns_where_nobody_could_decide_what_is_sent(desk: Desk):
    Membership.objects.filter(user=desk.silas, role=Role.APPROVER).delete()
    request = parked(desk, MOVE, name="move", arguments={"amount": "90.00"})
    page = form(desk, request, desk.rhea)
    assert "Nobody could approve what you send." in page
    assert "Nobody may decide it" in page
    assert deciders_now(request).names == ["rhea"]  # as long as she does not edit it


def test_of_a_group_only_its_members_with_the_right_count_and_a_quorum_needs_enough_of_them(desk: Desk):
    group(desk, "leads", desk.silas, desk.vera, desk.owen)
    rule(desk, "leads", "tool == 'desk.move'", group="leads", quorum=2, position=1)
    request = parked(desk, MOVE, name="move", arguments={"amount": "90.00"})
    found = deciders_now(request)
    assert (found.names, found.suffice) == (["silas"], False)
    assert "only silas may" in form(desk, request, desk.rhea)


def test_whoever_edited_before_may_decide_what_another_makes_of_it(desk: Desk):
    request = parked(desk, MOVE, name="move", arguments={"amount": "90.00"})
    sent = {"edit-amount": "10.00", "reason": "too much", "digest": request.digest}
    signed_in(desk.rhea).post(reverse("approval-edit", args=[request.pk]), sent)
    edited = ApprovalRequest.objects.get(replaces=request)
    assert deciders_now(edited).names == ["silas"]
    assert deciders_of_edit(edited, editor="silas").names == ["rhea"]
    person("nora", desk.workspace, Role.APPROVER)
    assert deciders_of_edit(edited, editor="silas").names == ["nora", "rhea"]


def test_a_card_on_which_nothing_may_be_edited_says_why(desk: Desk):
    for contract, said in ((CLEAN, True), (MOVE, False)):
        request = parked(desk, contract, arguments=None if contract is CLEAN else {"amount": "1.00"})
        page = signed_in(desk.rhea).get(reverse("approval", args=[request.pk])).content.decode()
        assert ("Nothing of this call may be edited" in page) is said
        decide(request, desk.rhea)
