"""The incident agent does its work once, asks for what needs a person, and believes only what it has read back."""

from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from chaos_app.incidents import agent
from chaos_app.incidents.model import LARGEST_COST, ModelPolicy
from chaos_app.incidents.walls import named
from chaos_app.world.client import World, WorldClient
from core.clock import database_now
from tasks_app.models import Event, Task
from tasks_app.sandbox.levels import NAMESPACES, level_here
from tests.integration.incidents.conftest import REPORTS, Office
from tests.processes import wait_for


def effects(world: WorldClient) -> list[str]:
    return sorted(f"{effect.system}.{effect.operation}" for effect in world.effects())


def test_an_incident_with_a_credit_ends_with_each_effect_once_and_every_criterion_checked(office: Office) -> None:
    task = office.start("INC-4101")
    assert office.run(task).status == "waiting"
    assert effects(office.world) == ["tickets.open"]  # nothing that needs a person has happened
    assert office.decide(task) == "change"
    assert office.run(task).status == "waiting"
    assert office.decide(task) == "credit"
    done = office.run(task)
    assert done.status == "completed", Event.objects.filter(stream=task).values_list("kind", "data")
    assert effects(office.world) == ["config.change", "mail.send", "payments.pay", "tickets.open"]
    checked = Event.objects.filter(stream=task, kind="evidence.observed").values_list("data", flat=True)
    assert all(item["holds"] for item in checked)
    assert {item["how"] for item in checked} == {"checked", "answered, not checked"}  # nobody can read a payment back
    assert {item["source"] for item in checked} == {"done_when", "call", "claim"}


def test_each_call_runs_in_a_sandbox_that_reaches_the_systems_of_its_tool_and_no_other(
    office: Office, world: World
) -> None:
    task = office.start("INC-4101")
    assert office.finish(task).status == "completed"
    events = Event.objects.filter(stream=task)
    used = [data["sandbox"] for data in events.filter(kind="call.outcome").values_list("data", flat=True)]
    assert {(one["level"], one["ended"]) for one in used} == {(level_here().name, "answered")}
    if level_here().name != NAMESPACES:
        return  # nothing is kept out here, and the tool's page says so
    reached = events.filter(kind="egress.connected").values_list("data__name", "data__place", "data__refused")
    web, smtp = named(world.url.removeprefix("http://")), f"localhost:{world.smtp[1]}"
    looking = {(name, web, "") for name in ("ticket", "config", "change", "credit", "mail")}
    assert set(reached) == {*looking, ("mail", smtp, "")}


def test_every_incident_of_the_demo_can_be_worked_on(office: Office) -> None:
    ended = {incident: office.finish(office.start(incident)).status for incident in REPORTS}
    assert ended == dict.fromkeys(REPORTS, "completed")
    credits = [report for report in REPORTS.values() if report["vendor"]]
    assert len(office.world.effects()) == 3 * len(REPORTS) + len(credits)
    assert office.world.ledger().disagreements == []


def test_a_configuration_that_moved_after_the_approval_is_read_again_and_asked_for_again(office: Office) -> None:
    task = office.start("INC-4102")
    office.run(task)
    office.world.http.post("/config/inventory-sync", json={"set": {"batch.size": 400}}).raise_for_status()
    assert office.decide(task) == "change"
    assert office.run(task).status == "waiting"
    assert office.call(task, "change").state == "refused"
    assert office.decide(task) == "change-2"
    assert office.run(task).status == "completed"
    config = office.world.http.get("/config/inventory-sync").json()["values"]
    assert config["batch"]["size"] == 400  # what somebody else changed is still there
    assert config["warehouse_api"]["retry_backoff_ms"] == 200


def test_a_change_that_is_denied_ends_the_task_and_changes_nothing(office: Office) -> None:
    task = office.start("INC-4103")
    office.run(task)
    office.decide(task, "denied")
    assert office.run(task).status == "failed"
    assert effects(office.world) == ["tickets.open"]


def test_a_credit_that_is_denied_is_left_out_and_the_mail_says_so(office: Office) -> None:
    task = office.start("INC-4105")
    office.run(task)
    office.decide(task)
    office.run(task)
    office.decide(task, "denied")
    assert office.run(task).status == "completed"
    assert "payments.pay" not in effects(office.world)
    assert "not done" in office.world.http.get("/mail").json()["messages"][0]["body"]


def test_the_same_incident_given_twice_opens_no_second_ticket(office: Office) -> None:
    assert office.finish(office.start("INC-4104")).status == "completed"
    again = office.finish(office.start("INC-4104"))
    assert again.status == "failed"
    failed = Event.objects.get(stream=again.pk, kind="task.failed").data["reason"]
    assert "same act exists already" in failed
    assert effects(office.world).count("tickets.open") == 1


def test_a_payment_whose_answer_was_lost_waits_for_a_person_and_is_not_sent_again(office: Office) -> None:
    office.world.arm("payments", "lose_answer")
    task = office.start("INC-4107")
    office.run(task)
    office.decide(task)
    office.run(task)
    office.decide(task)
    assert office.run(task).status == "in_doubt"
    assert effects(office.world).count("payments.pay") == 1
    doubt = Event.objects.get(stream=task, kind="call.in_doubt").data
    assert "memo" in doubt["check"]


def test_a_mail_whose_answer_was_lost_is_found_by_its_message_id_and_adopted(office: Office) -> None:
    office.world.arm("mail", "lose_answer")
    task = office.start("INC-4106")
    office.run(task)
    office.decide(task)
    parked = office.run(task)
    assert (parked.status, (parked.wait or {})["kind"]) == ("waiting", "look_up")
    found = Event.objects.filter(stream=task, kind="call.observed", data__adopted=True)
    wait_until_due(parked)
    assert office.run(task).status == "completed"
    assert found.exists()
    assert effects(office.world).count("mail.send") == 1


def test_a_model_that_proposes_is_in_the_record_with_its_question_and_its_cost(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent, "policy_here", lambda: ModelPolicy(proposes(setting="poll.interval_seconds", value=45)))
    task = office.start("INC-4110")
    assert office.finish(task).status == "completed"
    asked = Event.objects.get(stream=task, kind="context.selected").data
    assert asked["reserved_tokens"] == LARGEST_COST
    decided = Event.objects.get(stream=task, kind="step.decided", data__has_key="answer").data
    assert decided["answer"]["value"] == 45
    assert 0 < Task.objects.get(pk=task).spent["tokens"] < LARGEST_COST
    assert office.world.http.get("/config/feature-flags").json()["values"]["poll"]["interval_seconds"] == 45


def proposes(**proposal: Any) -> FunctionModel:
    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, {**proposal, "reason": "It helps."})])

    return FunctionModel(answer)


def wait_until_due(task: Task) -> None:
    wait_for(lambda: Task.objects.get(pk=task.pk).wake_at <= database_now(), seconds=15)
