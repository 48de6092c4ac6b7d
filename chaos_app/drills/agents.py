"""The agents of the drills. Their intents (``Case``) say of which class the act is and how it is marked.

A worker that carries them has ``HANDRAIL_MODULES=chaos_app.drills.agents``.
"""

import time
from typing import Any

from pydantic import BaseModel, ConfigDict

import chaos_app.drills.tools  # noqa: F401 - declares the tools
from chaos_app.drills.catalogue import EFFECTS, tool_name
from chaos_app.drills.names import Klass
from tasks_app.criteria import criterion
from tasks_app.decisions import (
    Call,
    Decision,
    call,
    calls,
    complete,
    spawn,
    wait_for_child,
    wait_for_signal,
    wait_until,
)
from tasks_app.registry import agent
from tasks_app.view import TaskView


class Case(BaseModel):
    """The intent: ``case`` ties a task to its case, ``expected`` counts effects by business key."""

    model_config = ConfigDict(extra="forbid")

    case: str
    klass: Klass
    place: str = ""
    asked: bool = False
    hurried: bool = False
    lapsing: bool = False
    unsure: bool = False
    bug: str = ""
    child: bool = False
    expected: dict[str, int] = {}


# Seconds, as a model would take: what is settled is then committed by itself before the next question (C01).
THOUGHT = 0.06
COUNTED = criterion("drill.counted", expected="{intent.expected}")


def tool_of(intent: Any, klass: Klass | None = None) -> str:
    """Return the name of the tool that a case acts with."""
    return tool_name(klass or Klass(intent["klass"]), intent)


def mark_of(intent: Any, name: str) -> str:
    """Return the act's name outside."""
    return f"{intent['case']}.{name}" + (".child" if intent.get("child") else "")


def act(view: TaskView, name: str = "act", *, klass: Klass | None = None, mark: str = "", **more: Any) -> Call:
    """Return the call that acts."""
    kind = klass or Klass(view.intent["klass"])
    tool = tool_of(view.intent, klass)
    if kind == Klass.NONE:
        return call(tool, name=name, sku="B-9", **more)
    return call(tool, name=name, mark=mark or mark_of(view.intent, name), place=view.intent["place"], **more)


@agent("drill.act", intent=Case, done_when=[COUNTED])
def acting(view: TaskView) -> Decision:
    """Read, act, read again, be done; with state in between."""
    if "before" not in view.calls:
        return call("drill.stock", name="before", sku="B-9", state={"read": 1})
    if "act" not in view.calls:
        time.sleep(THOUGHT)
        return act(view)
    if "after" not in view.calls:
        return call("drill.stock", name="after", sku="B-9", state={**view.state, "read": 2})
    return complete(summary=f"{view.calls['act'].state}, {view.state['read']} reads")


for _klass in EFFECTS:  # each with an agent of its own, so that one can be stopped
    agent(f"drill.stopped.{_klass}", intent=Case, done_when=[COUNTED])(acting)


@agent("drill.asks", intent=Case, done_when=[COUNTED])
def asks(view: TaskView) -> Decision:
    """Ask a model that always says the same, then act."""
    if "act" not in view.calls:
        view.ask("What is to be done?", model="drill", ask=lambda question: "act", largest_cost=10)
        return act(view)
    return complete()


@agent("drill.pair", intent=Case, done_when=[COUNTED])
def pair(view: TaskView) -> Decision:
    """Two acts of different classes at once."""
    if "act" not in view.calls:
        return calls(act(view), act(view, "other", klass=Klass.OPAQUE))
    return complete()


@agent("drill.batch", intent=Case, done_when=[COUNTED])
def batch(view: TaskView) -> Decision:
    """Three items in one call."""
    if "act" not in view.calls:
        return call("drill.batch", name="act", mark=mark_of(view.intent, "act"), count=3)
    return complete()


@agent("drill.chain", intent=Case, done_when=[COUNTED])
def chain(view: TaskView) -> Decision:
    """Three acts one after the other."""
    for name in ("act", "act-2", "act-3"):
        if name not in view.calls:
            return act(view, name)
    return complete()


@agent("drill.waits", intent=Case, done_when=[COUNTED])
def waits(view: TaskView) -> Decision:
    """A child, a signal, a time; an act at the end."""
    if "helper" not in view.children and view.step == 0:
        mine = dict(view.intent)
        return spawn("drill.act", name="helper", intent={**mine, "child": True, "expected": {}})
    if "helper ended" not in view.waits:
        return wait_for_child("helper")
    if "go" not in view.waits:
        return wait_for_signal("go")
    if "pause" not in view.waits:
        return wait_until(name="pause", seconds=0.3)
    if "act" not in view.calls:
        return act(view)
    return complete(summary=f"{view.waits['go']} {view.children['helper']['status']}")


@agent("drill.twice", intent=Case, done_when=[COUNTED])
def twice(view: TaskView) -> Decision:
    """Ask for the same act again under another name; be done once that was refused."""
    if "act" not in view.calls:
        return act(view)
    if not view.refused and "again" not in view.calls:
        return act(view, "again", mark=mark_of(view.intent, "act"))
    return complete(summary=f"{len(view.refused)} refused")


@agent("drill.copied", intent=Case, done_when=[COUNTED])
def copied(view: TaskView) -> Decision:
    """Two acts, one after the other; a copy does the second as an act of its own: the same one is never begun twice."""
    if "first" not in view.calls:
        return act(view, "first", state={"acts": 1})
    if "act" not in view.calls:
        time.sleep(THOUGHT)
        mark = mark_of(view.intent, "act")
        return act(view, mark=f"{mark}.copy" if view.title.startswith("Copy of") else mark, state={"acts": 2})
    return complete(summary=f"{view.state['acts']} acts")


@agent("drill.claims", intent=Case, done_when=[COUNTED])
def claims(view: TaskView) -> Decision:
    """Claim to be done without having done anything."""
    return complete(summary="done, it says")
