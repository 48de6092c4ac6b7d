"""The look-up button: found or certainly absent closes a doubt by itself; everything else is evidence for a person."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pydantic import BaseModel

from core.access import Role
from core.errors import NotFound
from core.models import Workspace
from tasks_app.contracts import Absent, Answer, CallContext, CannotTell, Found, LookUp, Unknown
from tasks_app.models import Call, Event, Task
from tasks_app.record.rebuild import task_differences
from tasks_app.registry import tool
from tasks_app.services.look_up import CannotLookUp, Looked, call_look_up, look_up_ask
from tasks_app.services.settle import NotInDoubt, TooEarly, call_settle
from tasks_app.status import CallState
from tests.here import HERE
from tests.people import People, person
from tests.records import call_in, new_task, task_set

WORLD: dict[str, Callable[[], LookUp]] = {}


class Cents(BaseModel):
    cents: int


def find(key: str) -> LookUp:
    return WORLD["answer"]()


def _unknown(args: Cents, context: CallContext) -> Answer:
    raise Unknown("the line broke")


tool("looked.readable", arguments=Cents, effect_class="readable", find=find, lag=0.0, **HERE)(_unknown)
tool("looked.opaque", arguments=Cents, effect_class="opaque", find=find, lag=0.0, **HERE)(_unknown)
tool("looked.blind", arguments=Cents, effect_class="opaque", lag=0.0, **HERE)(_unknown)


def doubtful(people: People, tool: str = "looked.readable", effect_class: str = "readable", **more: object) -> Task:
    task = new_task(people.workspace, people.rhea)
    call_in(task, "pay", CallState.IN_DOUBT, tool=tool, effect_class=effect_class, **more)
    return task_set(task, status="in_doubt", wake_at=None)


def look(people: People, task: Task) -> Looked:
    return call_look_up(workspace=people.workspace, task=task.pk, name="pay", actor="person:silas")


def row(task: Task) -> Call:
    return Call.objects.get(task=task, name="pay")


def replay_agrees(task: Task) -> None:
    told = [one for one in task_differences(task.pk) if "tool" not in one and "effect_class" not in one]
    assert [one for one in told if "status" in one or "state" in one or "wait" in one] == []


def test_found_as_intended_closes_the_doubt_and_the_task_goes_on(people: People) -> None:
    WORLD["answer"] = lambda: Found(reference="tx-7", arguments={"cents": 100}, result={"id": 7})
    task = doubtful(people)
    seen = look(people, task)
    assert (seen.answer, seen.closed, seen.reference) == ("found", True, "tx-7")
    observed = Event.objects.get(stream=task.pk, kind="call.observed")
    assert (observed.actor, observed.data["adopted"], row(task).answer_seq) == ("person:silas", True, observed.seq)
    assert (row(task).state, row(task).reference) == ("ok", "tx-7")
    task.refresh_from_db()
    assert task.status == "queued"
    assert task.wake_at is not None
    replay_agrees(task)
    with pytest.raises(NotInDoubt):
        look(people, task)


def test_certainly_absent_closes_the_doubt_as_no_effect_and_nothing_is_sent(people: People) -> None:
    WORLD["answer"] = Absent
    task = doubtful(people)
    assert look(people, task).closed
    assert (row(task).state, row(task).attempts, row(task).holds_business_key) == ("refused", 1, False)
    task.refresh_from_db()
    assert task.status == "queued"
    replay_agrees(task)


@pytest.mark.parametrize(
    ("answer", "tool", "said"),
    [
        (lambda: Found(reference="tx-7", arguments={"cents": 5}), "readable", "with other arguments"),
        (lambda: CannotTell("HTTP 503"), "readable", "HTTP 503"),
        (lambda: 1 / 0, "readable", "ZeroDivisionError"),
        (lambda: None, "readable", "answered nothing"),
        (Absent, "opaque", "does not promise"),
    ],
)
def test_anything_else_is_evidence_and_leaves_the_answer_to_a_person(people: People, answer, tool, said) -> None:
    WORLD["answer"] = answer
    task = doubtful(people, f"looked.{tool}", tool)
    seen = look(people, task)
    assert not seen.closed
    assert said in seen.reason
    assert said in Event.objects.get(stream=task.pk, kind="call.observed").data["reason"]
    task.refresh_from_db()
    assert (row(task).state, row(task).look_ups, task.status, task.wake_at) == ("in_doubt", 1, "in_doubt", None)
    call_settle(
        workspace=people.workspace, task=task.pk, name="pay", actor="person:silas", answer="unknown", evidence="asked"
    )


def test_e10_absent_after_the_tool_had_answered_ok_is_a_contradiction_for_a_person(people: People) -> None:
    from tasks_app.record.events import CallOutcome

    WORLD["answer"] = Absent
    task = task_set(doubtful(people), CallOutcome(name="pay", attempt=1, outcome="ok"))
    assert not look(people, task).closed


def test_nothing_is_looked_up_while_a_late_arrival_is_possible_or_without_a_look_up(people: People) -> None:
    WORLD["answer"] = Absent
    with pytest.raises(TooEarly) as early:
        look(people, doubtful(people, not_before=30.0))
    assert "not_before" in early.value.fields
    with pytest.raises(CannotLookUp, match="has no look-up"):
        look(people, doubtful(people, "looked.blind", "opaque"))
    with pytest.raises(CannotLookUp, match="not carried"):
        look(people, doubtful(people, "nobody.knows", "opaque"))
    with pytest.raises(NotFound):
        call_look_up(workspace=people.elsewhere, task=doubtful(people).pk, name="pay", actor="person:tobin")
    assert not Event.objects.filter(kind="call.observed").exists()


def asking(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_the_web_process_does_not_look_itself_and_says_where_no_worker_could(people: People) -> None:
    WORLD["answer"] = lambda: 1 / 0
    task = doubtful(people)
    answer = asking(people.silas).post(f"/api/v1/tasks/{task.pk}/calls/pay/look-up")
    assert answer.status_code == 503
    assert "No worker lives that carries looked.readable" in answer.json()["detail"]
    page = asking(people.silas).post(f"/tasks/{task.pk}/calls/pay/look-up/")
    assert page.status_code == 503
    assert "No worker lives" in page.content.decode()
    assert not Event.objects.filter(kind="call.observed").exists()


def test_whoever_asks_for_a_look_up_is_refused_as_whoever_looks(people: People) -> None:
    def ask(task: Task, workspace: Workspace = people.workspace) -> int:
        return look_up_ask(workspace=workspace, task=task.pk, name="pay", actor="person:silas")

    with pytest.raises(TooEarly):
        ask(doubtful(people, not_before=30.0))
    with pytest.raises(CannotLookUp, match="has no look-up"):
        ask(doubtful(people, "looked.blind", "opaque"))
    with pytest.raises(NotFound):
        ask(doubtful(people), people.elsewhere)
    settled = doubtful(people)
    Call.objects.filter(task=settled).update(state="happened")
    with pytest.raises(NotInDoubt):
        ask(settled)


def test_the_api_asks_for_those_who_may_settle_only(people: People) -> None:
    task = doubtful(people)
    assert asking(people.tobin).post(f"/api/v1/tasks/{task.pk}/calls/pay/look-up").status_code == 404
    person("vera", people.workspace, Role.VIEWER)
    vera = User.objects.get(username="vera")
    assert asking(vera).post(f"/api/v1/tasks/{task.pk}/calls/pay/look-up").status_code == 403
