"""Tools of each effect class over the outside world, and agents that use them; for tests of the runtime.

Short times keep waits short: who looks an effect up waits out what its attempt was given, and the lag.
"""

import os
from typing import Any

from pydantic import BaseModel

from tasks_app.contracts import Absent, Answer, CallContext, CannotTell, Found, LookUp, Observed, Refused, Unknown
from tasks_app.criteria import Observation, check, criterion
from tasks_app.decisions import Decision, call, calls, complete, spawn, wait_for_child, wait_for_signal, wait_until
from tasks_app.outside import http_client, looking_client
from tasks_app.registry import agent, tool
from tasks_app.view import TaskView
from tests.here import HERE

# Worker processes may be starved on a busy machine: their calls get more time (HANDRAIL_TEST_TIMEOUT, seconds).
TIMEOUT = float(os.environ.get("HANDRAIL_TEST_TIMEOUT", "0.5"))
# A request that is sent at the last moment, and applied just after its deadline, is there when it is looked up.
LAG = 1.0
QUICK: dict[str, Any] = {"timeout": TIMEOUT, "lag": LAG, **HERE}


def world_url() -> str:
    return os.environ["HANDRAIL_WORLD_URL"]


def look(path: str, **params: str) -> Any:
    with looking_client(base_url=world_url(), timeout=3) as client:
        answer = client.get(path, params=params)
    answer.raise_for_status()
    return answer.json()


def post(context: CallContext, path: str, body: dict[str, Any], **headers: str) -> Any:
    """Send once: 2xx is ok, 409 and 5xx are unknown, other 4xx are refused."""
    with http_client(context, base_url=world_url()) as client:
        answer = client.post(path, json=body, headers=headers)
    if answer.is_success:
        return answer.json()
    if answer.status_code == 409 or answer.status_code >= 500:
        raise Unknown(f"HTTP {answer.status_code}")
    raise Refused(f"HTTP {answer.status_code}: {answer.text[:200]}", moved=answer.status_code == 412)


class Title(BaseModel):
    title: str


def ticket_seen(args: Title, answer: Answer) -> Observed:
    found = look(f"/tickets/{answer.reference}")
    return Observed(matches=found["title"] == args.title, seen=found["title"], reference=found["id"])


@tool("t.ticket", arguments=Title, effect_class="keyed", verify=ticket_seen, **QUICK)
def ticket(args: Title, context: CallContext) -> Answer:
    made = post(context, "/tickets", {"title": args.title})
    return Answer(result={"id": made["id"]}, reference=made["id"])


class Setting(BaseModel):
    service: str
    name: str
    value: int


def commit_find(key: str) -> LookUp:
    answer = look("/config/log", key=key)
    if answer["commits"]:
        return Found(reference=answer["commits"][0]["version"])
    return Absent() if answer["complete"] else CannotTell("the log is longer than what was read")


def setting_seen(args: Setting, answer: Answer) -> Observed:
    value: Any = look(f"/config/{args.service}")["values"]
    for part in args.name.split("."):
        value = value[part]
    return Observed(matches=value == args.value, seen=value, reference=answer.reference)


def version_seen(args: Setting) -> str:
    return str(look(f"/config/{args.service}")["version"])


def change(args: Setting, context: CallContext, **headers: str) -> Answer:
    made = post(context, f"/config/{args.service}", {"set": {args.name: args.value}}, **headers)
    return Answer(result={"version": made["version"]}, reference=made["version"])


@tool("t.config", arguments=Setting, effect_class="readable", find=commit_find, verify=setting_seen, **QUICK)
def config(args: Setting, context: CallContext) -> Answer:
    return change(args, context)


@tool(
    "t.config_if",
    arguments=Setting,
    effect_class="readable",
    find=commit_find,
    verify=setting_seen,
    precondition=True,
    seen=version_seen,
    **QUICK,
)
def config_if(args: Setting, context: CallContext) -> Answer:
    return change(args, context, **{"If-Match": context.seen or ""})


class Payment(BaseModel):
    payee: str
    cents: int


@tool("t.pay", arguments=Payment, effect_class="opaque", asks=False, how_to_check="Look at the payments.", **QUICK)
def pay(args: Payment, context: CallContext) -> Answer:
    made = post(context, "/payments", {"payee": args.payee, "cents": args.cents})
    return Answer(result={"id": made["id"]}, reference=made["id"])


@tool("t.pay_asked", arguments=Payment, effect_class="opaque", how_to_check="Look at the payments.", **QUICK)
def pay_asked(args: Payment, context: CallContext) -> Answer:
    return pay.execute(args, context)


class Sku(BaseModel):
    sku: str


@tool("t.stock", arguments=Sku, effect_class="none", **QUICK)
def stock(args: Sku, context: CallContext) -> Any:
    return look(f"/stock/{args.sku}")["left"]


@check("world.effects")
def effects(call_prefix: str, count: int) -> Observation:
    found = [e for e in look("/ledger/effects")["effects"] if (e["call"] or "").startswith(call_prefix)]
    return Observation(holds=len(found) == count, expected=count, seen=len(found))


def act(view: TaskView, name: str = "act") -> Any:
    intent = view.intent
    match intent["kind"]:
        case "keyed":
            return call("t.ticket", name=name, title=intent["title"])
        case "readable" | "precondition":
            tool_name = "t.config" if intent["kind"] == "readable" else "t.config_if"
            made = call(tool_name, name=name, service=intent["service"], value=intent["value"])
            return made.__class__(tool=made.tool, name=name, arguments={**made.arguments, "name": intent["setting"]})
        case "opaque":
            return call("t.pay", name=name, payee=intent["title"], cents=100)
        case "asked":
            return call("t.pay_asked", name=name, payee=intent["title"], cents=100)
        case _:
            return call("t.stock", name=name, sku=intent["title"])


@agent("test.act", done_when=[criterion("note.is_there", box="world")])
def acting(view: TaskView) -> Decision:
    """Read, act, read again, complete; with state in between."""
    if "before" not in view.calls:
        return call("t.stock", name="before", sku="B-9", state={"read": 1})
    if "act" not in view.calls:
        return act(view)  # type: ignore[no-any-return]
    if not view.calls["act"].ok:
        return complete(summary="not done")
    if "after" not in view.calls:
        return call("t.stock", name="after", sku="B-9", state={**view.state, "read": 2})
    return complete(summary=f"done, {view.state['read']} reads")


@agent("test.pair", done_when=[criterion("note.is_there", box="world")])
def pair(view: TaskView) -> Decision:
    """Two acts of different classes at once."""
    if "first" not in view.calls:
        return calls(
            call("t.ticket", name="first", title=view.intent["title"]),
            call("t.pay", name="second", payee=view.intent["title"], cents=7),
        )
    return complete()


@agent("test.waits", done_when=[criterion("note.is_there", box="world")])
def waits(view: TaskView) -> Decision:
    """A child, a signal, a timer; an act at the end."""
    if "helper" not in view.children and view.step == 0:
        return spawn("test.act", name="helper", intent={**view.intent, "title": view.intent["title"] + "-child"})
    if "helper ended" not in view.waits:
        return wait_for_child("helper")
    if "go" not in view.waits:
        return wait_for_signal("go")
    if "pause" not in view.waits:
        return wait_until(name="pause", seconds=0.05)
    if "act" not in view.calls:
        return act(view)  # type: ignore[no-any-return]
    return complete(summary=f"{view.waits['go']} {view.children['helper']['status']}")
