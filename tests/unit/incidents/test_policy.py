"""What is proposed stays inside the tolerances, whoever proposes: the script, or a model that has to be told twice."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from chaos_app.incidents import model as model_module
from chaos_app.incidents.incident import Incident
from chaos_app.incidents.model import LARGEST_COST, ModelPolicy, model_name
from chaos_app.incidents.policy import ScriptedPolicy, outside_tolerance

EXAMPLES = json.loads((Path(__file__).resolve().parents[3] / "examples" / "incidents.json").read_text())
INCIDENTS = [Incident.model_validate(report) for report in EXAMPLES["incidents"]]
POOL = INCIDENTS[0]


@dataclass
class View:
    """As much of a view as a policy uses: it may ask."""

    asked: list[dict[str, Any]] = field(default_factory=list)

    def ask(self, question: Any, *, ask: Callable[[Any], Any], **more: Any) -> Any:
        answer = ask(question)
        self.asked.append({**more, "question": question, "tokens": answer.tokens})
        return answer.output


@pytest.mark.parametrize("incident", INCIDENTS, ids=lambda incident: incident.id)
def test_the_script_proposes_a_change_inside_the_tolerance_of_each_example(incident: Incident) -> None:
    proposal = ScriptedPolicy().propose(View(), incident, EXAMPLES["services"][incident.service])
    assert outside_tolerance(incident, proposal) == ""
    assert proposal.setting == incident.suspected_setting


def says(*values: float) -> FunctionModel:
    """A model that proposes these values, one after the other."""
    left = list(values)

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        proposal = {"setting": "database.pool_size", "value": left.pop(0), "reason": "The pool is too small."}
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, proposal)])

    return FunctionModel(answer)


def test_a_model_is_asked_through_the_record_with_its_largest_cost_reserved() -> None:
    view = View()
    proposal = ModelPolicy(says(40), name="test").propose(view, POOL, EXAMPLES["services"][POOL.service])
    assert proposal.value == 40
    asked = view.asked[0]
    assert (asked["model"], asked["largest_cost"]) == ("test", LARGEST_COST)
    assert 0 < asked["tokens"] <= LARGEST_COST
    assert json.loads(asked["question"])["configuration"]["database"]["pool_size"] == 20


def test_a_model_that_goes_beyond_the_tolerance_is_told_so_and_may_correct_itself() -> None:
    told: list[str] = []
    left = [4000.0, 60.0]

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        told.append(str(messages[-1]))
        proposal = {"setting": "database.pool_size", "value": left.pop(0), "reason": "More is better."}
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, proposal)])

    proposal = ModelPolicy(FunctionModel(answer), name="test").propose(View(), POOL, {})
    assert proposal.value == 60
    assert "between 20 and 60" in told[1]


def test_a_model_that_never_keeps_to_the_tolerance_proposes_nothing() -> None:
    with pytest.raises(Exception, match="retries"):
        ModelPolicy(says(1, 2, 3, 4, 5), name="test").propose(View(), POOL, {})


def test_the_environment_chooses_the_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HANDRAIL_MODEL", *model_module.MODELS):
        monkeypatch.delenv(name, raising=False)
    assert model_name() == ""
    monkeypatch.setenv("HANDRAIL_MODEL", "openai:another")
    assert model_name() == "openai:another"
    monkeypatch.setenv("HANDRAIL_MODEL", "scripted")
    assert model_name() == ""


def test_a_key_alone_asks_for_a_model_only_where_its_package_is_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("HANDRAIL_MODEL", raising=False)
    monkeypatch.setenv("ONE_KEY", "unused")
    monkeypatch.setattr(model_module, "MODELS", {"ONE_KEY": "a_provider:a-model"})
    assert model_name() == ""
    (tmp_path / "a_provider.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert model_name() == "a_provider:a-model"
