"""Agents and in-process tools that cost nothing themselves: what is measured is the runtime."""

import time
from typing import Any

from pydantic import BaseModel

from tasks_app.contracts import Answer, CallContext, Observed
from tasks_app.criteria import Observation, check, criterion
from tasks_app.decisions import Decision, call, complete, state
from tasks_app.registry import agent, tool
from tasks_app.view import TaskView
from tests.here import HERE

HOLDS = [criterion("bench.holds")]
WRITTEN: dict[str, int] = {}


class Value(BaseModel):
    value: int = 0


@check("bench.holds")
def holds() -> Observation:
    return Observation(holds=True, expected=True, seen=True)


@tool("bench.read", arguments=Value, effect_class="none", **HERE)
def read(args: Value, context: CallContext) -> Any:
    return {"url": "https://example.test/a/b/c", "value": args.value, "pad": "x" * 100}


def written(args: Value, answer: Answer) -> Observed:
    return Observed(matches=WRITTEN.get(answer.reference) == args.value, reference=answer.reference)


@tool("bench.write", arguments=Value, effect_class="keyed", verify=written, **HERE)
def write(args: Value, context: CallContext) -> Answer:
    WRITTEN[context.key] = args.value
    return Answer(result={"value": args.value}, reference=context.key)


@tool("bench.slow", arguments=Value, effect_class="keyed", timeout=30.0, **HERE)
def slow(args: Value, context: CallContext) -> Answer:
    time.sleep(args.value / 1000)
    return Answer(result=args.value, reference=context.key)


@tool("bench.boxed", arguments=Value, effect_class="none")
def boxed(args: Value, context: CallContext) -> Any:
    return {"value": args.value}


@agent("bench.boxer", done_when=HOLDS)
def boxer(view: TaskView) -> Decision:
    if view.step >= view.intent["steps"]:
        return complete()
    return call("bench.boxed", name=f"box-{view.step}", value=view.step)


@agent("bench.reader", done_when=HOLDS)
def reader(view: TaskView) -> Decision:
    if view.step >= view.intent["steps"]:
        return complete()
    return call("bench.read", name=f"read-{view.step}", value=view.step)


@agent("bench.writer", done_when=HOLDS)
def writer(view: TaskView) -> Decision:
    if view.step >= view.intent["steps"]:
        return complete()
    return call("bench.write", name=f"write-{view.step}", value=view.step)


@agent("bench.growing", done_when=HOLDS)
def growing(view: TaskView) -> Decision:
    if view.step >= view.intent["steps"]:
        return complete()
    notes = (view.state or {"notes": []})["notes"]
    return state({"notes": [*notes, f"{view.step:06d}" + "n" * 1000]})


@agent("bench.slow", done_when=HOLDS, losses=1000)
def one_slow(view: TaskView) -> Decision:
    return complete() if "slow" in view.calls else call("bench.slow", name="slow", value=view.intent["milliseconds"])


@agent("bench.thinker", done_when=HOLDS)
def thinker(view: TaskView) -> Decision:
    if view.step == 0:
        time.sleep(view.intent["seconds"])  # a model that is waited for
        return state({"thought": True})
    return complete()


@tool("bench.asked", arguments=Value, effect_class="keyed", asks=True, **HERE)
def asked(args: Value, context: CallContext) -> Answer:
    return Answer(result=args.value, reference=context.key)


@agent("bench.asker", done_when=HOLDS)
def asker(view: TaskView) -> Decision:
    return complete() if "asked" in view.calls else call("bench.asked", name="asked", value=1)
