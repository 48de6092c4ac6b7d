"""An outside world for one run: effects by key, with tools of each class that misbehave when told to."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel

from tasks_app.contracts import Absent, Answer, CallContext, CannotTell, Found, LookUp, Observed, Refused, Unknown
from tasks_app.criteria import Observation, check, criterion
from tasks_app.decisions import Call, Calls, Decision, NewState, complete, wait_for_signal
from tasks_app.record.invariants import Effect
from tasks_app.registry import agent, tool
from tasks_app.view import TaskView
from tests.here import HERE

LAG = 0.15


class Death(BaseException):
    """The process ends here: nothing above may handle it."""


@dataclass
class Outside:
    """``plan`` says how each act, and each look, goes in turn; when it is used up, all goes well."""

    acts: Iterator[str] = field(default_factory=lambda: iter(()))
    looks: Iterator[str] = field(default_factory=lambda: iter(()))
    ledger: list[Effect] = field(default_factory=list)
    coming: list[tuple[float, Effect, bool]] = field(default_factory=list)

    def settle(self) -> None:
        """Let what was accepted and not applied yet take effect, if its time has come."""
        due = [item for item in self.coming if item[0] <= time.monotonic()]
        self.coming = [item for item in self.coming if item not in due]
        for _, effect, once in due:
            self.apply(effect, once=once)

    def apply(self, effect: Effect, *, once: bool) -> None:
        if not (once and self.of(effect.key)):
            self.ledger.append(effect)

    def of(self, key: str) -> list[Effect]:
        return [effect for effect in self.ledger if effect.key == key]

    def act(self, args: BaseModel, context: CallContext, *, once: bool) -> Answer:
        """``once``: the provider remembers keys, as a keyed tool promises."""
        self.settle()
        effect = Effect(
            key=context.key,
            arguments=args.model_dump(mode="json"),
            business_key=context.business_key,
            at=datetime.now(UTC),
        )
        how = next(self.acts, "ok")
        if how == "refuse" and not self.of(context.key):
            raise Refused("not today")
        if how in {"ok", "lost", "die after"}:
            self.apply(effect, once=once)
        if how in {"late", "die late"}:
            at = context.deadline + LAG / 2
            self.coming.append((at, effect, once))
        if how.startswith("die"):
            raise Death
        if how in {"lost", "late", "absent"}:
            raise Unknown("no answer")
        return Answer(result={"n": args.model_dump()["n"]}, reference=context.key)

    def find(self, key: str) -> LookUp:
        self.settle()
        if next(self.looks, "ok") == "cannot":
            return CannotTell("the list was truncated")
        found = self.of(key)
        return Found(reference=key, arguments=found[0].arguments) if found else Absent()

    def verify(self, args: BaseModel, answer: Answer) -> Observed:
        self.settle()
        if next(self.looks, "ok") == "cannot":
            return Observed(matches=False, cannot_tell=True, reason="503")
        found = [effect for effect in self.ledger if effect.arguments == args.model_dump(mode="json")]
        return Observed(matches=len(found) == 1, seen=len(found), reference=answer.reference)


WORLD = Outside()


def world_begin(acts: list[str], looks: list[str]) -> Outside:
    """Begin a new world."""
    WORLD.__init__(acts=iter(acts), looks=iter(looks))  # type: ignore[misc]
    return WORLD


class Act(BaseModel):
    n: str


TIMES: dict[str, Any] = {"timeout": 0.15, "lag": LAG, "attempts": 4, **HERE}


@tool("prop.keyed", arguments=Act, effect_class="keyed", verify=lambda a, b: WORLD.verify(a, b), **TIMES)
def keyed(args: Act, context: CallContext) -> Answer:
    return WORLD.act(args, context, once=True)


@tool(
    "prop.readable",
    arguments=Act,
    effect_class="readable",
    find=lambda key: WORLD.find(key),
    verify=lambda a, b: WORLD.verify(a, b),
    once_per="act {n}",
    **TIMES,
)
def readable(args: Act, context: CallContext) -> Answer:
    return WORLD.act(args, context, once=False)


@tool("prop.opaque", arguments=Act, effect_class="opaque", **TIMES)
def opaque(args: Act, context: CallContext) -> Answer:
    return WORLD.act(args, context, once=False)


@tool(
    "prop.gated",
    arguments=Act,
    effect_class="readable",
    asks=True,
    find=lambda key: WORLD.find(key),
    verify=lambda a, b: WORLD.verify(a, b),
    **TIMES,
)
def gated(args: Act, context: CallContext) -> Answer:
    return WORLD.act(args, context, once=False)


@tool("prop.look", arguments=Act, effect_class="none", timeout=0.15, lag=LAG, **HERE)
def look(args: Act, context: CallContext) -> Answer:
    return Answer(result={"seen": args.n})


@check("prop.holds")
def holds(**arguments: object) -> Observation:
    return Observation(holds=True, expected=True, seen=True)


@agent("prop.run", version=1, done_when=[criterion("prop.holds")], losses=50)
def run(view: TaskView) -> Decision:
    """Follow the plan in the intent: each step a list of tools, or a word."""
    for number, step in enumerate(view.intent["steps"]):
        names = [f"{number}-{place} {name}" for place, name in enumerate(step)]
        if step == ["signal"]:
            if f"s{number}" not in view.waits:
                return wait_for_signal("go", name=f"s{number}")
        elif step == ["state"]:
            if (view.state or {}).get("at", -1) < number:
                return NewState(state={"at": number, "from": view.task.hex[:4]})
        elif not all(name in view.calls for name in names):
            many = [
                Call(tool=f"prop.{name}", name=full, arguments={"n": f"{view.task.hex[-8:]} {full}"})
                for name, full in zip(step, names, strict=True)
            ]
            return Calls(calls=many) if len(many) > 1 else many[0]
    return complete(summary="all steps are taken")
