"""What the desk does, over HTTP: edits, groups, many at once, grants, rules, and waiting for a decision."""

import threading
import time
from datetime import timedelta

from django.db import connection
from django.test import Client
from django.urls import reverse

from approvals_app.models import ApprovalRequest
from approvals_app.selectors import doubts
from approvals_app.status import Answer
from core.clock import database_now
from tasks_app.models import Call
from tasks_app.services.stops import stop_set
from tests.desk import MOVE, Desk, decide, parked, rule
from tests.integration.approvals_app.rules import edit

ALL = "/api/v1/approvals"


def signed_in(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


def post(client: Client, path: str, **body):
    return client.post(f"{ALL}{path}", body, content_type="application/json")


def test_an_edit_answers_with_the_new_request_and_the_card_shows_both_sides(desk: Desk):
    request = parked(desk, MOVE, name="move", arguments={"amount": "90.00"})
    rhea = signed_in(desk.rhea)
    assert rhea.get(f"{ALL}/{request.pk}").json()["editable"] == ["amount"]
    wrong = post(rhea, f"/{request.pk}/edit", arguments={"to": "me"}, digest=request.digest, reason="r")
    assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (422, "to")
    made = post(rhea, f"/{request.pk}/edit", arguments={"amount": "1.00"}, digest=request.digest, reason="r").json()
    assert (made["replaces"], made["status"], made["call"]) == (str(request.pk), "requested", "move #2")
    card = rhea.get(f"{ALL}/{made['id']}").json()
    assert (card["proposed"]["amount"], card["arguments"]["amount"]) == ("90.00", "1.00")
    assert "edited the arguments" in card["refusal"]


def test_every_waiting_approval_is_listed_once_also_those_that_are_kept_waiting_without_a_deadline(desk: Desk):
    requests = [parked(desk, arguments={"path": f"/{n}"}) for n in range(5)]
    kept = [request.pk for request in requests[1:4]]  # among the others, and more of them than one part holds
    ApprovalRequest.objects.filter(pk__in=kept).update(decide_by=None, overdue_at=database_now())
    rhea, address, seen = signed_in(desk.rhea), f"{ALL}?limit=2", []
    for _ in range(3):
        page = rhea.get(address).json()
        seen += [row["id"] for row in page["approvals"]]
        address = f"{ALL}?limit=2&after={page['next']}"
    assert page["next"] is None
    assert seen == [str(requests[n].pk) for n in (0, 4, 1, 2, 3)]


def test_the_list_is_narrowed_to_what_one_may_decide_and_by_agent_tool_rule_and_task(desk: Desk):
    mine, moved = parked(desk), parked(desk, MOVE, name="move", arguments={"amount": "90.00"})
    own = parked(desk, arguments={"path": "/own"})
    ApprovalRequest.objects.filter(pk=own.pk).update(policy=own.policy | {"never": [{"user": "rhea", "why": "o"}]})

    def listed(user, query: str) -> set[str]:
        return {row["id"] for row in signed_in(user).get(f"{ALL}?{query}").json()["approvals"]}

    assert listed(desk.rhea, "mine=1") == {str(mine.pk), str(moved.pk)}
    assert listed(desk.vera, "mine=1") == set()
    assert listed(desk.rhea, "tool=desk.move") == {str(moved.pk)}
    assert listed(desk.rhea, f"task={mine.task_id}") == {str(mine.pk)}
    assert listed(desk.rhea, "agent=desk.agent&rule=contract") == {str(one.pk) for one in (mine, moved, own)}
    assert listed(desk.rhea, "agent=another") == set()


def test_the_card_gives_out_what_its_page_shows(desk: Desk):
    rule(desk, "two", "true", quorum=2)
    request, before = parked(desk, arguments={"path": "/b"}), parked(desk, arguments={"path": "/a"})
    decide(before, desk.rhea, Answer.DENIED)
    decide(request, desk.rhea)
    stop_set(workspace=desk.workspace, scope="tool", name="desk.clean", reason="r", user=desk.rhea, actor="person:rhea")
    card = signed_in(desk.silas).get(f"{ALL}/{request.pk}").json()
    assert (card["so_far"], card["quorum"]) == (1, 2)
    assert "silas" in card["deciders"]
    assert (card["invalid"], card["successor"], card["editor"], card["escalated_at"]) == (None, None, None, None)
    assert [(one["id"], one["decision"]) for one in card["earlier"]] == [(str(before.pk), "denied")]
    assert [(one["scope"], one["name"]) for one in card["stops"]] == [("tool", "desk.clean")]
    assert any("desk.clean" in step["text"] or "clean" in step["text"] for step in card["last_steps"])
    moved = parked(desk, MOVE, name="move", arguments={"amount": "90.00"})
    made = edit(moved, desk.rhea, amount="1.00")
    card = signed_in(desk.silas).get(f"{ALL}/{made.pk}").json()
    changed = [one["name"] for one in card["proposed_differences"] if one["kind"] == "changed"]
    assert (card["editor"], changed) == ("rhea", ["amount"])


def test_groups_are_listed_and_denied_as_one_act(desk: Desk):
    for path in ("/a", "/b"):
        parked(desk, arguments={"path": path})
    rhea = signed_in(desk.rhea)
    (group,) = rhea.get(f"{ALL}/groups").json()["groups"]
    assert (group["agent"], group["count"]) == ("desk.agent", 2)
    named = {name: group[name] for name in ("agent", "tool", "rule")}
    said = post(rhea, "/groups/deny", reason="stop it", **named).json()
    assert (said["denied"], [one["status"] for one in said["approvals"]]) == (2, ["denied", "denied"])
    assert said["stop"] is not None


def test_several_are_answered_at_once_and_each_says_what_became_of_it(desk: Desk):
    one, two = parked(desk), parked(desk, arguments={"path": "/b"})
    decide(two, desk.silas)
    items = [{"id": str(request.pk), "digest": request.digest} for request in (one, two)]
    said = post(signed_in(desk.rhea), "/decide", decision="approved", approvals=items).json()
    assert [(done["status"], done["code"]) for done in said["approvals"]] == [("approved", None), (None, "conflict")]


def test_grants_are_given_listed_and_revoked(desk: Desk):
    rhea, request = signed_in(desk.rhea), parked(desk)
    ends = (database_now() + timedelta(days=1)).isoformat()
    given = post(rhea, f"/{request.pk}/grant", ends_at=ends, most_uses=3, reason="nightly").json()
    assert (given["owner"], given["arguments"]["path"], given["uses"]) == ("rhea", "/scratch/a", 0)
    assert [one["id"] for one in rhea.get(f"{ALL}/grants?standing=1").json()["grants"]] == [given["id"]]
    assert post(rhea, f"/grants/{given['id']}/revoke", reason="enough").json()["revoked_at"] is not None
    assert rhea.get(f"{ALL}/grants?standing=1").json()["grants"] == []


def test_rules_are_listed_and_tried(desk: Desk):
    rule(desk, "deep", "arguments.deep == true", quorum=2)
    vera = signed_in(desk.vera)
    assert [row["name"] for row in vera.get(f"{ALL}/policy").json()["rules"]] == ["deep"]
    said = post(vera, "/policy/try", tool="desk.clean", arguments={"path": "/a", "deep": True}).json()
    assert (said["rule"], said["demands"]["quorum"], said["tried"][0]["matched"]) == ("deep", 2, True)


def test_several_people_answer_and_the_first_is_told_that_others_are_needed(desk: Desk):
    rule(desk, "two", "true", quorum=2)
    request = parked(desk)
    body = {"decision": "approved", "digest": request.digest}
    first = post(signed_in(desk.rhea), f"/{request.pk}/decide", **body).json()
    assert (first["new"], first["decided"], first["status"]) == (True, False, "requested")
    second = post(signed_in(desk.silas), f"/{request.pk}/decide", **body).json()
    assert (second["decided"], [one["by"] for one in second["answers"]]) == (True, ["rhea", "silas"])


def test_waiting_for_a_decision_answers_when_it_is_made_and_after_the_time_otherwise(desk: Desk):
    request, client = parked(desk), signed_in(desk.vera)
    began = time.monotonic()
    assert client.get(f"{ALL}/{request.pk}/decision?wait=0.3").json()["decided"] is False
    assert 0.3 <= time.monotonic() - began < 5

    def decide_soon() -> None:
        time.sleep(0.5)
        decide(ApprovalRequest.objects.get(pk=request.pk), desk.rhea)
        connection.close()

    thread = threading.Thread(target=decide_soon)
    thread.start()
    began = time.monotonic()
    answer = client.get(f"{ALL}/{request.pk}/decision?wait=25").json()
    thread.join()
    assert (answer["decided"], answer["status"], answer["decided_by"]) == (True, "approved", "rhea")
    assert time.monotonic() - began < 10
    assert signed_in(desk.tobin).get(f"{ALL}/{request.pk}/decision?wait=25").status_code == 404


def test_calls_whose_outcome_is_unknown_are_listed_with_when_they_may_be_answered(desk: Desk):
    early, late = parked(desk), parked(desk, arguments={"path": "/b"})
    for request, minutes in ((early, 5), (late, -5)):
        deadline = database_now() + timedelta(minutes=minutes)
        Call.objects.filter(task=request.task_id).update(state="in_doubt", deadline=deadline)
    listed = signed_in(desk.vera).get(f"{ALL}/doubts").json()
    assert listed["count"] == 2
    found = {one["task"]: one for one in listed["doubts"]}
    assert found[str(early.task_id)]["not_before"]
    told = found[str(late.task_id)]
    assert (told["call"], told["tool"], told["agent"], told["not_before"]) == (
        "clean",
        "desk.clean",
        "desk.agent",
        None,
    )
    assert signed_in(desk.tobin).get(f"{ALL}/doubts").json() == {"doubts": [], "count": 0, "next": None}


def test_every_call_in_doubt_is_reached_by_page_and_api_however_many_there_are(desk: Desk, monkeypatch):
    monkeypatch.setattr(doubts, "MOST_DOUBTS", 2)
    names = [str(parked(desk, arguments={"path": f"/{number}"}).task_id) for number in range(5)]
    Call.objects.update(state="in_doubt")
    vera, seen, shown = signed_in(desk.vera), [], []
    address, page = f"{ALL}/doubts", f"{reverse('approvals')}?shelf=doubt"
    for _ in range(3):
        part = vera.get(address).json()
        seen += [one["task"] for one in part["doubts"]]
        assert part["count"] == 5
        address = f"{ALL}/doubts?after={part['next']}"
        answer = vera.get(page)
        shown += [str(call.task_id) for call in answer.context["calls"]]
        page = answer.context["next_url"]
    assert (part["next"], page) == (None, "")
    assert (seen, shown) == (names, names)
    assert vera.get(f"{reverse('approvals')}?shelf=doubt&after=x").status_code == 404
