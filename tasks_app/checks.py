"""``manage.py check`` for users' code: what an agent or a tool misses, and what follows from it."""

import string
from collections.abc import Iterator, Sequence
from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error, Info, Warning, register

from core.errors import InvalidInput
from tasks_app import registry
from tasks_app.contracts import Contract
from tasks_app.criteria import check_of, checks_known
from tasks_app.registry import Agent
from tasks_app.sandbox.levels import level_here, refusal_of
from tasks_app.sandbox.spec import Wanted
from tasks_app.status import EffectClass


@register()
def users_code_is_whole(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Load what HANDRAIL_MODULES and the entry points name, and look at each agent and each tool."""
    try:
        registry.modules_load()
    except InvalidInput as error:
        return [Error(error.detail, id="tasks.E001")]
    found = [message for agent in registry.agents() for message in of_agent(agent)]
    return found + [message for tool in registry.tools() for message in of_tool(tool)]


@register(deploy=True)
def users_code_could_be_safer(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Say what costs a person's time later: on ``check --deploy``, not at the start of every command."""
    return [message for tool in registry.tools() for message in weak(tool)] + list(walls())


def walls() -> Iterator[CheckMessage]:
    """Say what the sandboxes of this machine lack, and which tools refuse to run here because of it."""
    here = level_here()
    for text in here.missing:
        yield Info(f"Tools run {here.meaning}. {text}", hint="README, Sandboxes.", id="tasks.I004")
    refused = [tool.name for tool in registry.tools() if refusal_of(Wanted(tool.sandbox))]
    if refused:
        text = f"These tools want a full sandbox and refuse to run here: {', '.join(refused)}."
        yield Warning(text, hint="README, Sandboxes.", id="tasks.W009")


def of_agent(agent: Agent) -> Iterator[CheckMessage]:
    """Return what an agent misses."""
    name = f"The agent {agent.name!r} version {agent.version}"
    for criterion in agent.done_when:
        if check_of(criterion.check) is None:
            known = ", ".join(checks_known()) or "none"
            text = f"{name} is done when {criterion}, and nothing here checks {criterion.check!r}."
            yield Error(text, hint=f'Declare it with @check("{criterion.check}"); known: {known}.', id="tasks.E002")
    if not agent.done_when:
        text = f"{name} declares no done_when: nothing says what must hold outside when a task of it is complete."
        yield Warning(text, hint="Give it at least one criterion, so that done is what is found.", id="tasks.W001")
    if agent.intent is None:
        text = f"{name} declares no schema for its intent: whatever it is given is taken."
        yield Warning(text, hint="Pass intent=, a pydantic model; the start form is made from it.", id="tasks.W002")
    if not agent.doc:
        yield Warning(f"{name} has no docstring: people cannot read what it does.", id="tasks.W003")


def of_tool(tool: Contract) -> Iterator[CheckMessage]:
    """Return what a tool's contract misses."""
    if not tool.doc:
        yield Warning(f"{_named(tool)} has no docstring: people cannot read what it does.", id="tasks.W004")
    if tool.effect_class == EffectClass.NONE:
        return
    yield from _read_back(tool)
    if not tool.how_to_check:
        text = f"{_named(tool)} says nothing to a person who must find out whether it happened."
        yield Warning(text, hint="Set how_to_check to a sentence: where to look, for what.", id="tasks.W006")
    if tool.needs_person and tool.preview is None:
        text = f"{_named(tool)} asks a person and has no preview: the card cannot say what will happen."
        yield Warning(text, hint="Set preview(args) to one line.", id="tasks.W007")
    yield from _business_key(tool)


def weak(tool: Contract) -> Iterator[CheckMessage]:
    """Return where a tool that is whole could be stronger."""
    if tool.effect_class == EffectClass.OPAQUE:
        text = f"{_named(tool)} is opaque: each unknown outcome of it waits for a person."
        hint = (
            "If the provider has a field that you fill and can search (a memo), put the key there: it is readable then."
        )
        yield Info(text, hint=hint, id="tasks.I001")
    if tool.effect_class == EffectClass.KEYED and tool.find is None:
        text = f"{_named(tool)} has no look-up: once the provider has forgotten a key, an open call waits for a person."
        yield Info(text, hint="Set find(key), if the provider can be asked for it.", id="tasks.I002")
    if tool.effect_class != EffectClass.NONE and tool.once_per is None:
        text = f"{_named(tool)} has no business key: the same act under another name is another act."
        yield Info(text, hint="Set once_per to what makes two calls the same act.", id="tasks.I003")


def _read_back(tool: Contract) -> Iterator[CheckMessage]:
    if tool.verify is None and tool.effect_class != EffectClass.OPAQUE:
        text = f"{_named(tool)} has no read-back: its effects are answered, never verified."
        yield Warning(
            text, hint="Set verify(args, answer), a request of its own that reads the world.", id="tasks.W005"
        )


def _business_key(tool: Contract) -> Iterator[CheckMessage]:
    fields = string.Formatter().parse(tool.once_per or "")
    if tool.once_per is not None and not any(name for _, name, _, _ in fields):
        text = f"{_named(tool)} has the business key {tool.once_per!r}, which is the same for all of its calls."
        yield Warning(text, hint="Name arguments or fields of the intent: {service}.", id="tasks.W008")


def _named(tool: Contract) -> str:
    return f"The tool {tool.name!r} version {tool.version}"
