"""Field cases 01 to 06, judged by what the outside world holds."""

from collections.abc import Callable
from typing import Any

import pytest

from chaos_app.world.client import WorldClient
from tasks_app.decisions import Decision, call, complete
from tasks_app.models import Call, Event, Task
from tasks_app.record.events import CallOutcome
from tasks_app.record.late import late_keep
from tasks_app.services.settle import call_settle
from tasks_app.status import CallState, Status
from tasks_app.view import TaskView
from tests.integration.runtime.conftest import Rig, fresh, kinds
from tests.integration.runtime.test_every_crossing import ENDS, effects_of, intent_of
from tests.processes import wait_for
from tests.scripts import script

Rigs = Callable[[], Rig]
KILL_2 = ("E02", "before_send", 2)  # the first E02 is the read before the act
KILL_3 = ("E05", "before", 1)


def one_call(one: Rig, tool: str, arguments: dict[str, Any], **more: Any) -> Task:
    return one.task("case.script", script="one", title=fresh(), tool=tool, arguments=arguments, **more)


def to_the_end(one: Rig, task: Task) -> Task:
    return one.run(task, until=lambda t: t.status in ENDS)


@pytest.mark.parametrize(("kill", "sent"), [(KILL_2, 0), (KILL_3, 1)], ids=["kill-2", "kill-3"])
def test_case_01_an_act_that_nobody_can_look_up_is_never_done_again_after_a_crash(
    kill: Any, sent: int, rig: Rigs, client: WorldClient
) -> None:
    one = rig()
    one.die_at = kill
    task = to_the_end(one, one.task(**intent_of("opaque", 0)))
    assert one.died
    assert (task.status, effects_of(client, task)) == (Status.IN_DOUBT, sent)
    doubt = Event.objects.get(stream=task.pk, kind="call.in_doubt")
    assert (doubt.data["name"], doubt.data["check"]) == ("act", "Look at the payments.")
    one.slice(task)
    assert kinds(task).count("call.attempted") == 1


def test_case_01_what_can_be_looked_up_is_looked_up_and_adopted(rig: Rigs, client: WorldClient) -> None:
    one = rig()
    one.die_at = ("E05", "before", 1)
    title = fresh()
    task = to_the_end(one, one_call(one, "c.ticket_readable", {"title": title}))
    assert (task.status, effects_of(client, task), kinds(task).count("call.attempted")) == (Status.COMPLETED, 1, 1)
    assert Event.objects.get(stream=task.pk, kind="call.observed").data["adopted"]


def test_case_02_progress_is_what_was_recorded_and_not_what_was_fetched(rig: Rigs, client: WorldClient) -> None:
    one = rig()
    one.die_at = ("E01", "before", 3)  # two of ten are done, the third is decided on
    task = one.task("case.script", script="chain", title=fresh(), count=10)
    one.slice(task)
    task.refresh_from_db()
    assert one.died
    assert (task.checkpoint_step, effects_of(client, task)) in {(1, 2), (2, 2)}
    to_the_end(one, task)
    assert (task.status, effects_of(client, task)) == (Status.COMPLETED, 10)
    assert Call.objects.filter(task=task, state=CallState.VERIFIED).count() == 10
    assert len({e.arguments["title"] for e in client.effects() if (e.call or "").startswith(str(task.pk))}) == 10
    assert kinds(task)[-2:].count("task.completed") == 1


def test_case_03_an_open_attempt_is_believed_until_its_deadline_and_no_longer(rig: Rigs, client: WorldClient) -> None:
    one = rig()
    one.die_at = ("E02", "before_send", 1)
    task = to_the_end(one, one_call(one, "c.ticket_readable", {"title": fresh()}))
    assert one.died
    assert (task.status, effects_of(client, task)) == (Status.COMPLETED, 1)
    first, second = Event.objects.filter(stream=task.pk, kind="call.attempted").order_by("seq")
    observed = Event.objects.get(stream=task.pk, kind="call.observed")
    assert observed.data["answer"] == "absent"
    claimed = Event.objects.filter(stream=task.pk, kind="slice.claimed").order_by("seq")[1]
    deadline = first.data["deadline"]
    assert claimed.at.isoformat() < deadline < observed.at.isoformat() <= second.at.isoformat()
    decided = Event.objects.filter(stream=task.pk, kind="call.resume_decided").first()
    assert decided is not None
    assert (decided.data["rule"], decided.data["move"]) == ("E02", "wait")


@pytest.mark.parametrize(
    ("tool", "arguments", "status"),
    [
        ("c.ticket_badly", {"title": "x"}, Status.COMPLETED),
        ("c.pay_badly", {"payee": "x", "cents": 1}, Status.IN_DOUBT),
    ],
)
def test_case_03_a_tool_that_raises_after_the_effect_is_unknown_and_not_failed(
    tool: str, arguments: Any, status: Status, rig: Rigs, client: WorldClient
) -> None:
    one = rig()
    task = to_the_end(one, one_call(one, tool, arguments))
    assert (task.status, effects_of(client, task)) == (status, 1)
    assert Event.objects.get(stream=task.pk, kind="call.outcome").data["outcome"] == "unknown"


def test_case_04_a_timeout_is_unknown_and_the_retry_carries_the_same_key(rig: Rigs, client: WorldClient) -> None:
    one = rig()
    task = one_call(one, "t.ticket", {"title": fresh()})
    armed = client.arm("tickets", "hold", match={"call": f"{task.pk}/act"}, at="applied", seconds=10)
    to_the_end(one, task)
    client.disarm(armed.id)
    sent = [a for a in client.ledger(call=f"{task.pk}/act").arrivals if a.acts]
    assert (task.status, effects_of(client, task)) == (Status.COMPLETED, 1)
    assert {a.key for a in sent} == {f"hr-{task.pk.hex}-1-0"}
    outcomes = Event.objects.filter(stream=task.pk, kind="call.outcome").order_by("seq")
    said = [e.data["outcome"] for e in outcomes]
    assert set(said[:-1]) == {"unknown"}
    assert said[-1] == "ok"


def test_case_04_a_key_that_the_provider_may_have_forgotten_is_not_relied_on(rig: Rigs, client: WorldClient) -> None:
    """The variant: memory of an hour, the resume comes after six."""
    one = rig()
    one.die_at = ("E05", "before", 1)
    task = one_call(one, "c.ticket_forgotten", {"title": fresh()})
    one.slice(task)
    assert one.died
    call_row = Call.objects.get(task=task)
    assert call_row.first_attempt_at is not None
    Call.objects.filter(task=task).update(first_attempt_at=call_row.first_attempt_at.replace(year=2020))
    client.forget_keys()
    to_the_end(one, task)
    assert (task.status, effects_of(client, task)) == (Status.IN_DOUBT, 1)


@script
def reads_three_times(view: TaskView) -> Decision:
    nth = len(view.calls) + 1
    if nth <= 3:
        return call("t.stock", name=f"c-{nth}", sku=view.intent["title"])
    return complete(summary=",".join(str(view.calls[f"c-{n}"].answer) for n in (1, 2, 3)))


@pytest.mark.parametrize("kill", [None, ("D02", "after", 2)], ids=["no crash", "after the second result"])
def test_case_05_equal_calls_are_different_calls(kill: Any, rig: Rigs, client: WorldClient) -> None:
    one = rig()
    one.die_at = kill
    task = to_the_end(one, one.task("case.script", script="reads_three_times", title=fresh()))
    assert one.died == bool(kill)
    answers = Event.objects.filter(stream=task.pk, kind="call.outcome").order_by("seq")
    assert [(e.data["name"], e.data["result"]) for e in answers] == [("c-1", 5), ("c-2", 4), ("c-3", 3)]
    assert len([a for a in client.ledger(system="stock").arrivals if task.intent["title"] in a.path]) == 3


SHOWN: list[list[tuple[str, str, bool]]] = []


@script
def posts_a_note(view: TaskView) -> Decision:
    shown = [(c.name, c.state, c.interrupted) for entry in view.transcript() for c in entry.calls]
    SHOWN.append(shown)
    if "note" not in view.calls:
        return call("t.pay", name="note", payee=view.intent["title"], cents=1)
    return complete(summary="went on")


def test_case_06_an_interrupted_call_has_exactly_one_answer_that_says_so(rig: Rigs, client: WorldClient) -> None:
    SHOWN.clear()
    one = rig()
    one.die_at = ("E02", "before_send", 1)
    task = to_the_end(one, one.task("case.script", script="posts_a_note", title=fresh()))
    assert (task.status, len(SHOWN)) == (Status.IN_DOUBT, 1), "the model is not asked while the call is unsettled"
    one.slice(task)
    assert len(SHOWN) == 1
    settle = {"workspace": task.workspace, "task": task.pk, "name": "note", "actor": "person:silas"}
    call_settle(**settle, answer="unknown", evidence="nobody knows")
    to_the_end(one, task)
    late_receipt_arrives(task)
    assert SHOWN[1:] == [[("note", CallState.UNKNOWN_SETTLED, True)]]
    assert kinds(task).count("call.settled") == 1
    assert kinds(task)[-1] == "call.late_receipt", "kept and shown, also after the end"
    assert Call.objects.get(task=task).state == CallState.UNKNOWN_SETTLED


def late_receipt_arrives(task: Task) -> None:
    """The old worker comes back with its answer."""
    from tasks_app.record.append import Token

    claimed = Event.objects.filter(stream=task.pk, kind="slice.claimed").order_by("seq")[0]
    token = Token(epoch=claimed.epoch or 0, nonce=claimed.data["nonce"])
    answer = CallOutcome(name="note", attempt=1, outcome="ok", result={"id": "P-9"}, reference="P-9")
    for _ in range(2):
        late_keep(stream=task.pk, events=[answer], actor="worker:old", token=token)


def test_case_06_a_receipt_that_arrives_late_closes_a_doubt_as_answered_not_as_verified(
    rig: Rigs, client: WorldClient
) -> None:
    """L05, S5: nobody has read it back."""
    one = rig()
    one.die_at = ("E05", "before", 1)
    task = to_the_end(one, one.task("case.script", script="posts_a_note", title=fresh()))
    assert task.status == Status.IN_DOUBT
    late_receipt_arrives(task)
    to_the_end(one, task)
    assert (task.status, Call.objects.get(task=task).state) == (Status.COMPLETED, CallState.ANSWERED)
    assert kinds(task).count("call.late_receipt") == 1
    assert "call.verified" not in kinds(task)
    wait_for(lambda: effects_of(client, task) == 1)
