"""Effects: found by reference, resource, time and person; page by page; nothing of another workspace."""

import re
from datetime import timedelta

from django.urls import reverse

from approvals_app.models import ApprovalRequest
from core.board import effects
from core.clock import database_now
from tasks_app.models import Call, Task
from tasks_app.status import CallState
from tests.people import People
from tests.records import call_in, new_task

EVIL = "<img src=x onerror=alert(1)>\u202e"


def effect(task: Task, name: str, state: CallState = CallState.OK, *, ago: float = 0.0, **more) -> Call:
    call = call_in(task, name, state, **more)
    Call.objects.filter(pk=call.pk).update(first_attempt_at=database_now() - timedelta(minutes=ago))
    return call


def found(client, **query: str) -> list[str]:
    answer = client.get(reverse("effects"), query)
    assert answer.status_code == 200
    return [row.name for row in answer.context["rows"]]


def approved(call: Call, by, now) -> None:
    ApprovalRequest.objects.create(
        workspace=call.workspace,
        task=call.task,
        name=call.name,
        tool=call.tool,
        contract_version=1,
        schema_digest="s",
        digest="d",
        same_call="s",
        line="x",
        risk="low",
        group="approvers",
        policy={},
        run_within=1.0,
        status="consumed",
        decision="approved",
        decided_by=by,
        decided_at=now,
        requested_at=now,
        run_by=now,
        consumed_at=now,
    )


def test_the_last_hour_is_one_link_away_and_keeps_what_else_is_filtered_by(client_of, people):
    page = client_of(people.rhea).get(reverse("effects"), {"reference": "img", "until": "2020-01-01T00:00"})
    hour, day = page.context["spans"]
    assert (hour["label"], day["label"]) == ("Last hour", "Last day")
    assert f'href="{hour["url"]}"'.replace("&", "&amp;") in page.content.decode()
    shown = client_of(people.rhea).get(reverse("effects") + hour["url"])
    assert shown.context["filters"].reference == "img"
    assert timedelta(minutes=58) < database_now() - shown.context["filters"].since < timedelta(minutes=63)
    assert shown.context["filters"].until is None


def test_who_touched_the_service_between_two_moments(client_of, people: People, task: Task):
    effect(task, "early", ago=90, resource="service/checkout")
    effect(task, "in-it", ago=30, resource="service/checkout")
    effect(task, "other", ago=30, resource="service/mail")
    effect(task, "late", ago=5, resource="service/checkout")
    since, until = (f"{database_now() - timedelta(minutes=ago):%Y-%m-%dT%H:%M:%S}" for ago in (60, 15))
    rhea = client_of(people.rhea)
    assert found(rhea, resource="checkout", since=since, until=until) == ["in-it"]
    assert found(rhea) == ["late", "other", "in-it", "early"]  # nothing asked: everything, the newest first


def test_it_is_found_by_any_part_of_a_reference_and_by_kind_and_tool(client_of, people: People, task: Task):
    effect(task, "ticket", CallState.VERIFIED, reference="TICKET-4711", tool="ticket.open")
    effect(task, "pay", CallState.IN_DOUBT)
    effect(task, "refused", CallState.REFUSED)
    rhea = client_of(people.rhea)
    assert found(rhea, reference="4711") == ["ticket"]
    assert found(rhea, kind="unknown") == ["pay"]
    assert found(rhea, kind="none") == ["refused"]
    assert found(rhea, kind="verified", tool="ticket.open") == ["ticket"]
    assert found(rhea, reference="absent") == []


def test_it_is_found_by_who_owned_or_approved_it(client_of, people: People, task: Task):
    approved(effect(task, "asked"), people.silas, database_now())
    effect(new_task(people.workspace, people.silas), "silas-own", ago=1)
    effect(task, "alone", ago=2)
    rhea = client_of(people.rhea)
    assert found(rhea, person="silas") == ["asked", "silas-own"]
    assert found(rhea, person="rhea") == ["asked", "alone"]
    assert "silas</a>" in rhea.get(reverse("effects"), {"person": "silas"}).content.decode()


def test_what_has_no_effect_and_what_was_never_attempted_is_not_there(client_of, people: People, task: Task):
    call_in(task, "planned", CallState.INTENDED)
    effect(task, "read", effect_class="none")
    assert found(client_of(people.rhea)) == []


def test_another_workspace_sees_nothing_of_it(client_of, people: People, task: Task):
    effect(task, "mine")
    assert found(client_of(people.tobin)) == []
    assert client_of(people.tobin).get(reverse("effects"), {"workspace": "harbour"}).status_code == 404


def test_pages_go_by_key_forth_and_back(client_of, people: People, task: Task, monkeypatch):
    monkeypatch.setattr(effects, "ROWS", 2)
    for number in range(5):
        effect(task, f"e{number}", ago=10 - number)
    rhea = client_of(people.rhea)
    page, seen = rhea.get(reverse("effects")).context, []
    while page["next_url"]:
        seen.append([row.name for row in page["rows"]])
        page = rhea.get(reverse("effects") + page["next_url"]).context
    assert [*seen, [row.name for row in page["rows"]]] == [["e4", "e3"], ["e2", "e1"], ["e0"]]
    back = rhea.get(reverse("effects") + page["previous_url"]).context
    assert [row.name for row in back["rows"]] == ["e2", "e1"]
    assert [row.name for row in rhea.get(reverse("effects") + back["previous_url"]).context["rows"]] == ["e4", "e3"]


def test_a_page_beside_a_call_of_another_workspace_tells_nothing_of_its_time(client_of, people: People, task: Task):
    effect(task, "mine", ago=10)
    theirs = [effect(new_task(people.elsewhere, people.tobin), f"t{ago}", ago=ago) for ago in (5, 20)]
    rhea = client_of(people.rhea)
    beside = [{side: str(call.pk)} for side in ("before", "after") for call in theirs]
    assert [found(rhea, **query) for query in beside] == [[], [], [], []]


def test_hostile_text_is_inert_and_a_time_that_is_none_is_said(client_of, people: People, transactional_db):
    task = new_task(people.workspace, people.rhea, title=EVIL)
    effect(task, EVIL, reference=EVIL, resource=EVIL, tool=EVIL)
    answer = client_of(people.rhea).get(reverse("effects"), {"since": "yesterday", "reference": "img"})
    page = re.sub(
        r'(value|data-copy)="[^"]*"', "", answer.content.decode()
    )  # what is sent back, or copied, is what it is
    assert "It narrows nothing until it is a date and a time." in page
    assert not re.search(r"<img[^>]*onerror", page)
    assert "\u202e" not in page
    assert page.count("\\u202e") >= 4
