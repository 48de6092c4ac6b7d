"""``manage.py check`` names what a user's agent or tool misses, and says nothing about one that is whole."""

from typing import Any

from pydantic import BaseModel

from tasks_app.checks import of_agent, of_tool, weak
from tasks_app.contracts import Absent, Answer, Contract, EffectClass, Observed
from tasks_app.criteria import criterion
from tasks_app.decisions import complete
from tasks_app.registry import Agent


class Nothing(BaseModel):
    thing: str = ""


def contract(**more: Any) -> Contract:
    whole: dict[str, Any] = {
        "name": "checked.tool",
        "version": 1,
        "arguments": Nothing,
        "effect_class": EffectClass.READABLE,
        "execute": lambda args, context: Answer(),
        "doc": "Does a thing.",
        "find": lambda key: Absent(),
        "verify": lambda args, answer: Observed(matches=True),
        "preview": str,
        "once_per": "{thing}",
        "how_to_check": "Look.",
    }
    return Contract(**whole | more)


def told(**more: Any) -> list[str | None]:
    return [message.id for message in of_tool(contract(**more))]


def told_of_agent(**more: Any) -> list[str | None]:
    whole = {"done_when": (criterion("nobody.checks"),), "intent": Nothing, "doc": "Does."}
    agent = Agent(name="checked.agent", version=1, decide=lambda view: complete(), **whole | more)
    return [message.id for message in of_agent(agent)]


def test_a_whole_tool_is_passed_over() -> None:
    assert told() == []
    assert told(effect_class=EffectClass.NONE, find=None, verify=None, once_per=None, how_to_check="") == []


def test_what_a_tool_misses_is_named() -> None:
    assert told(doc="") == ["tasks.W004"]
    assert told(verify=None) == ["tasks.W005"]
    assert told(how_to_check="") == ["tasks.W006"]
    assert told(asks=True, preview=None) == ["tasks.W007"]
    assert told(once_per="always") == ["tasks.W008"]


def test_where_a_whole_tool_could_be_stronger_is_said_before_a_deployment() -> None:
    assert [message.id for message in weak(contract(once_per=None))] == ["tasks.I003"]
    assert [message.id for message in weak(contract(effect_class=EffectClass.KEYED, find=None))] == ["tasks.I002"]
    assert list(weak(contract())) == []


def test_an_opaque_tool_is_told_how_it_could_be_readable() -> None:
    message = next(weak(contract(effect_class=EffectClass.OPAQUE, find=None, verify=None)))
    assert "memo" in (message.hint or "")


def test_what_an_agent_misses_is_named() -> None:
    assert told_of_agent() == ["tasks.E002"]
    assert told_of_agent(done_when=()) == ["tasks.W001"]
    assert told_of_agent(done_when=(), intent=None, doc="") == ["tasks.W001", "tasks.W002", "tasks.W003"]
