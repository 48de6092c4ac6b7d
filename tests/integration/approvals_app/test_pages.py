"""The pages of approvals: a link leads to the card, only a POST by a person with the right decides (case-25)."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from approvals_app.models import ApprovalRequest
from approvals_app.status import Answer
from core.access import Role
from core.clock import database_now
from core.models import Membership
from tasks_app.models import Call, Event
from tasks_app.status import CallState
from tests.desk import (
    CLEAN,
    MOVE,
    PAY,
    WALLED,
    Desk,
    attempt,
    cancel,
    claim,
    decide,
    kinds,
    park,
    parked,
    propose,
    task_create,
)
from tests.integration.approvals_app.rules import edit, grant


def signed_in(user, **options) -> Client:
    client = Client(**options)
    client.force_login(user)
    return client


def url(request: ApprovalRequest) -> str:
    return reverse("approval", args=[request.pk])


def post(client: Client, request: ApprovalRequest, decision: str = "approved", **more: str):
    return client.post(url(request), {"decision": decision, "digest": request.digest, "reason": "", **more})


def status_of(request: ApprovalRequest) -> str:
    return ApprovalRequest.objects.get(pk=request.pk).status


def test_a_post_decides_leads_back_to_the_card_and_the_card_stays_with_who_and_when(desk: Desk):
    request = parked(desk)
    client = signed_in(desk.rhea)
    answer = post(client, request, reason="fine by me")
    assert (answer.status_code, answer.url) == (303, url(request))
    page = client.get(url(request)).content.decode()
    assert "You approved this call." in page
    assert "Already approved by rhea at" in page
    assert "fine by me" in page
    assert 'name="decision"' not in page
    assert "data-over" in page


def test_case_13_a_second_click_is_no_error(desk: Desk):
    request = parked(desk)
    client = signed_in(desk.rhea)
    assert post(client, request).status_code == 303
    assert post(client, request).status_code == 303
    assert "Already approved by rhea" in client.get(url(request)).content.decode()
    assert kinds(request.task_id).count("approval.decided") == 1


@pytest.mark.parametrize("fragment", [False, True])
def test_a_stale_post_gets_409_with_the_fresh_card(desk: Desk, fragment):
    request = parked(desk)
    decide(request, desk.silas, Answer.DENIED, reason="not today")
    client = signed_in(desk.rhea)
    if fragment:
        client.defaults["HTTP_HX_REQUEST"] = "true"
    answer = post(client, request)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert 'role="alert"' in page
    assert "Already denied by silas at" in page
    assert "not today" in page
    assert ("<html" not in page) == fragment


def test_rule_1_a_card_of_another_call_is_refused_and_the_fresh_one_shown(desk: Desk):
    request = parked(desk)
    answer = signed_in(desk.rhea).post(url(request), {"decision": "approved", "digest": "0" * 64})
    assert answer.status_code == 409
    assert f'value="{request.digest}"' in answer.content.decode()
    assert status_of(request) == "requested"


def test_rule_6_the_owner_sees_the_card_but_no_buttons_and_a_forged_post_is_refused(desk: Desk):
    request = parked(desk)
    client = signed_in(desk.owen)
    page = client.get(url(request)).content.decode()
    assert 'value="approved"' not in page
    assert "somebody else has to decide" in page
    assert post(client, request).status_code == 403
    assert status_of(request) == "requested"


def test_rule_12_everything_is_shown_with_invisible_characters_as_escapes_and_agents_text_inert(desk: Desk):
    task = task_create(desk)
    token = claim(task)
    path = "/srv/\u202egnp.exe\u200b<script>alert(1)</script>"
    request = propose(task, CLEAN, "clean", {"path": path}, token=token, reason="<b>Approve</b>\u2066 me")
    park(task, token)
    page = signed_in(desk.rhea).get(url(request)).content.decode()
    for shown in (
        "\\u202e",
        "\\u200b",
        "\\u2066",
        "&lt;script&gt;alert(1)",
        "&lt;b&gt;Approve&lt;/b&gt;",
        "agent-supplied",
    ):
        assert shown in page
    for hidden in ("\u202e", "\u200b", "\u2066", "<script>alert", "<b>Approve"):
        assert hidden not in page
    assert "Safe to resend" in page
    assert request.digest in page


def test_the_card_says_what_each_answer_and_silence_cause(desk: Desk):
    request = parked(desk, PAY, name="pay")
    page = signed_in(desk.rhea).get(url(request)).content.decode()
    for sentence in (
        "The call runs once, with exactly these arguments",
        "The call does not run. The agent is told",
        "the request expires",
        "Cannot be checked",
        "High risk",
        "but not owen",
        "Pay 90.00 to acme",
    ):
        assert sentence in page


def test_arguments_stand_in_the_order_of_the_tools_schema_and_the_card_is_of_the_same_call(desk: Desk):
    given = {"to": "acme", "amount": "90.00"}  # the database keeps the shorter name first
    request = parked(desk, PAY, name="pay", arguments=given)
    rhea = signed_in(desk.rhea)
    for address in (url(request), reverse("approvals")):
        names = re.findall(
            r'<th scope="row" role="rowheader"><code>(\w+)</code></th>', rhea.get(address).content.decode()
        )
        assert names == ["amount", "to"], address
    post(rhea, request)
    assert status_of(request) == "approved"


def test_arguments_stand_in_the_order_of_the_tools_schema_wherever_a_call_is_shown(desk: Desk):
    request = parked(desk, MOVE, name="move", arguments={"to": "acme", "amount": "90.00"})
    grant(request, desk)
    planned = Event.objects.get(stream=request.task_id, kind="call.intended")
    assert list(planned.data["arguments"]) == ["to", "amount"]  # as the database keeps them
    rhea, task = signed_in(desk.rhea), reverse("task", args=[request.task_id])
    settle = reverse("call-settle", args=[request.task_id, "move"])
    for address in (f"{task}?event={planned.seq}", settle, reverse("approvals-grants")):
        shown = rhea.get(address).content.decode()
        found = re.findall(r'<th scope="row" role="rowheader"><code>(to|amount)</code></th>', shown)
        assert found == ["amount", "to"], address
    fields = re.findall(r"<dt>(\w+)</dt>", rhea.get(f"{task}?event={planned.seq}").content.decode())
    assert fields.index("Name") < fields.index("Tool") < fields.index("Arguments") < fields.index("Key")


def test_the_list_shows_what_waits_and_the_badge_counts_only_what_this_person_may_decide(desk: Desk):
    request = parked(desk)
    rhea, owen, vera = signed_in(desk.rhea), signed_in(desk.owen), signed_in(desk.vera)
    for client, count in ((rhea, 1), (owen, 0), (vera, 0)):
        assert url(request) in client.get(reverse("approvals"), {"shelf": "team"}).content.decode()
        page = client.get(reverse("approvals"))
        assert (url(request) in page.content.decode()) == bool(count)
        assert page.context["approvals_waiting"] == count
    post(rhea, request)
    page = rhea.get(reverse("approvals"))
    assert url(request) not in page.content.decode()
    assert page.context["approvals_waiting"] == 0
    assert url(request) in rhea.get(reverse("approvals"), {"shelf": "decided"}).content.decode()
    assert rhea.get(reverse("approvals"), {"shelf": "nonsense"}).status_code == 404


def test_a_long_list_is_paged_by_key_soonest_deadline_first(desk: Desk):
    made = [parked(desk, arguments={"path": f"/scratch/{number}"}) for number in range(4)]
    from approvals_app.selectors.requests import Shelf, approvals_page

    first = approvals_page(workspaces=[desk.workspace.pk], shelf=Shelf.WAITING, limit=3)
    rest = approvals_page(workspaces=[desk.workspace.pk], shelf=Shelf.WAITING, after=first.after, limit=3)
    assert [row.pk for row in [*first.rows, *rest.rows]] == [request.pk for request in made]
    assert rest.after is None


def test_what_was_withdrawn_says_why_on_every_page_that_shows_it(desk: Desk):
    request = parked(desk, MOVE, name="move", arguments={"amount": "90.00"})
    edit(request, desk.rhea, amount="10.00")
    rhea = signed_in(desk.rhea)
    task = reverse("task", args=[request.task_id])
    for page in (f"{reverse('approvals')}?shelf=expired", url(request), f"{task}?tab=approvals"):
        shown = rhea.get(page).content.decode()
        assert ("Withdrawn: edited by rhea" in shown, "Withdrawn: task cancelled" in shown) == (True, False), page


def test_a_denial_can_be_opened_again_and_an_approval_taken_back_from_the_card(desk: Desk):
    denied, approved = parked(desk), parked(desk)
    client = signed_in(desk.rhea)
    post(client, denied, "denied")
    post(client, approved)
    assert client.post(reverse("approval-ask-again", args=[denied.pk]), {"reason": "safe now"}).status_code == 303
    assert client.post(reverse("approval-take-back", args=[approved.pk]), {"reason": "wrong"}).status_code == 303
    assert client.post(reverse("approval-take-back", args=[approved.pk]), {"reason": "wrong"}).status_code == 409
    assert status_of(approved) == "revoked"
    assert ApprovalRequest.objects.get(pk=denied.pk).reopened_at <= database_now()


def test_a_call_is_compared_with_the_last_one_on_the_same_resource_and_with_no_other(desk: Desk):
    def on(resource: str, path: str) -> ApprovalRequest:
        made = parked(desk, arguments={"path": path})
        Call.objects.filter(task=made.task_id).update(resource=resource)
        return made

    other = on("config/other", "/scratch/a")
    decide(other, desk.silas)
    done = Call.objects.filter(task=other.task_id)
    done.update(state=CallState.VERIFIED, settled_seq=6)
    asked = on("config/this", "/scratch/b")
    rhea = signed_in(desk.rhea)
    page = rhea.get(url(asked)).content.decode()
    assert "No call of this tool on config/this has taken effect yet" in page
    assert "from the last similar call" not in page
    done.update(resource="config/this")
    assert "1 of 2 arguments differs from the last similar call" in rhea.get(url(asked)).content.decode()


def test_the_agents_reason_comes_before_the_arguments_marked_as_its_own_and_limits_are_folded(desk: Desk):
    page = signed_in(desk.rhea).get(url(parked(desk, WALLED))).content.decode()
    assert page.index("its own words, agent-supplied") < page.index("Exactly this will run")
    assert "1 GiB of memory, and more</summary>" in page
    assert page.index(">Decides</dt>") < page.index(">Sandbox</dt>")


def test_to_let_the_agent_ask_again_is_offered_only_while_its_task_can_still_ask(desk: Desk):
    denied, again, rhea = parked(desk), "Let the agent ask again", signed_in(desk.rhea)
    decide(denied, desk.silas, Answer.DENIED)
    assert again in rhea.get(url(denied)).content.decode()
    cancel(denied.task_id)
    page = rhea.get(url(denied)).content.decode()
    assert again not in page
    assert "cannot ask again in it" in page
    refused = rhea.post(reverse("approval-ask-again", args=[denied.pk]), {"reason": "please"})
    assert refused.status_code == 409
    assert "This task has ended" in refused.content.decode()
    assert "Nothing was appended" not in refused.content.decode()


def test_the_arguments_stand_under_what_is_true_of_them(desk: Desk):
    waits, denied, approved, used = (parked(desk) for _ in range(4))
    decide(denied, desk.silas, Answer.DENIED)
    for one in (approved, used):
        decide(one, desk.silas)
    assert attempt(used.task_id, "clean", claim(used.task)).admitted
    rhea = signed_in(desk.rhea)
    shown = {one: rhea.get(url(one)).content.decode() for one in (waits, denied, approved, used)}
    assert all("Exactly this will run" in shown[one] for one in (waits, approved))
    assert "This did not run" in shown[denied]
    assert "Exactly this was run" in shown[used]
    assert not any("this will run" in shown[one] for one in (denied, used))
    fresh = rhea.get(reverse("approval-live", args=[denied.pk])).content.decode()
    assert "This did not run" in fresh  # an open card is told, too


def test_the_admin_console_shows_rows_and_changes_none(desk: Desk):
    request = parked(desk)
    Membership.objects.create(user=desk.rhea, workspace=desk.workspace, role=Role.ADMIN)
    client = signed_in(desk.rhea)
    change = reverse("admin:approvals_app_approvalrequest_change", args=[request.pk])
    assert client.get(change).status_code == 200
    assert client.post(change, {"status": "approved"}).status_code == 403
    assert client.get(reverse("admin:approvals_app_approvalrequest_changelist")).status_code == 200
    assert status_of(request) == "requested"
