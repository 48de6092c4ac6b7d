"""One agent whose decisions a test writes: ``@script`` names a function of the view, the task's intent picks it.

``HANDRAIL_MODULES=tests.outside_tools,tests.scripts`` gives those that are declared here to worker processes too.
"""

import os
import re
import time
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from tasks_app.contracts import Absent, Answer, CallContext, CannotTell, Found, LookUp, Observed, Refused, Started
from tasks_app.criteria import Observation, check, criterion
from tasks_app.decisions import Decision, call, calls, complete, wait_until
from tasks_app.outside import http_client, looking_client
from tasks_app.registry import agent, tool
from tasks_app.view import TaskView
from tests.here import HERE
from tests.outside_tools import QUICK, Payment, Sku, Title, look, post, world_url

Decide = Callable[[TaskView], Decision]
SCRIPTS: dict[str, Decide] = {}


def script(function: Decide) -> Decide:
    """Let ``intent["script"]`` name this function."""
    SCRIPTS[function.__name__] = function
    return function


@agent("case.script", done_when=[criterion("note.is_there", box="world")])
def scripted(view: TaskView) -> Decision:
    return SCRIPTS[view.intent["script"]](view)


@agent("case.bare")
def without_criteria(view: TaskView) -> Decision:
    """Without criteria of its own."""
    return SCRIPTS[view.intent["script"]](view)


@agent("case.single", done_when=[criterion("note.is_there", box="world")], tasks_at_once=1)
def one_at_a_time(view: TaskView) -> Decision:
    return SCRIPTS[view.intent["script"]](view)


@agent("case.quiet", done_when=[criterion("note.is_there", box="world")], calls_at_once=1)
def one_call_at_a_time(view: TaskView) -> Decision:
    return SCRIPTS[view.intent["script"]](view)


def ticket_find(key: str) -> LookUp:
    answer = look("/tickets", key=key)
    if answer["tickets"]:
        found = answer["tickets"][0]
        return Found(reference=found["id"], arguments={"title": found["title"]}, result={"id": found["id"]})
    return Absent() if answer["complete"] else CannotTell("the list is longer than what was read")


def ticket_counted(args: Title, answer: Answer) -> Observed:
    """Count what the world has under our title: exactly one is as intended."""
    found = [one for one in look("/api/state", limit="1000")["tickets"] if one["title"] == args.title]
    reference = found[0]["id"] if len(found) == 1 else ""
    return Observed(matches=len(found) == 1, seen=[one["id"] for one in found], reference=reference)


def ticket_open(args: Title, context: CallContext) -> Answer:
    made = post(context, "/tickets", {"title": args.title})
    return Answer(result={"id": made["id"]}, reference=made["id"])


TOOLS: dict[str, dict[str, Any]] = {
    "c.ticket_readable": {"effect_class": "readable", "find": ticket_find},
    "c.ticket_looked_up": {"effect_class": "keyed", "find": ticket_find},
    "c.ticket_counted": {"effect_class": "keyed", "verify": ticket_counted},
    "c.ticket_once": {"effect_class": "keyed", "once_per": "{title}"},
    "c.ticket_forgotten": {"effect_class": "keyed", "retention": 3600.0},
    "c.ticket_limited": {"effect_class": "keyed", "at_once": 1},
    "c.ticket_asked": {"effect_class": "readable", "find": ticket_find, "asks": True},
}
for name, more in TOOLS.items():
    tool(name, arguments=Title, **{**QUICK, **more})(ticket_open)


@tool("c.ticket_badly", arguments=Title, effect_class="readable", find=ticket_find, **QUICK)
def ticket_badly(args: Title, context: CallContext) -> Answer:
    """Raises after the world has acted."""
    ticket_open(args, context)
    raise KeyError("the answer has no such field")


@tool("c.pay_slow", arguments=Payment, effect_class="opaque", asks=False, timeout=20.0, lag=0.2, **HERE)
def pay_slow(args: Payment, context: CallContext) -> Answer:
    made = post(context, "/payments", {"payee": args.payee, "cents": args.cents})
    return Answer(result={"id": made["id"]}, reference=made["id"])


@tool("c.pay_badly", arguments=Payment, effect_class="opaque", asks=False, **QUICK)
def pay_badly(args: Payment, context: CallContext) -> Answer:
    """Raises after the world has acted."""
    pay_slow.execute(args, context)
    raise KeyError("the answer has no such field")


class File(BaseModel):
    path: str
    text: str


def file_seen(args: File, answer: Answer) -> Observed:
    with looking_client(base_url=world_url(), timeout=3) as client:
        found = client.get(f"/files/{args.path}")
    return Observed(matches=found.text == args.text, seen=found.text[:100], reference=args.path)


@tool("c.file", arguments=File, effect_class="keyed", verify=file_seen, **QUICK)
def file_put(args: File, context: CallContext) -> Answer:
    with http_client(context, base_url=world_url()) as client:
        answer = client.put(f"/files/{args.path}", content=args.text.encode())
    if answer.status_code == 422:
        raise Refused(answer.text[:200])
    answer.raise_for_status()
    return Answer(result={"etag": answer.headers["ETag"]}, reference=args.path)


@check("file.has_rows")
def file_has_rows(name: str, at_least: int) -> Observation:
    with looking_client(base_url=world_url(), timeout=3) as client:
        answer = client.get(f"/files/{name}")
    rows = len(answer.text.splitlines()) if answer.is_success else 0
    details = {"digest": answer.headers.get("ETag", ""), "size": len(answer.content) if answer.is_success else 0}
    return Observation(holds=rows >= at_least, expected=at_least, seen=rows, details=details)


class Notices(BaseModel):
    room: str
    texts: list[str]


def notices_post(args: Notices, context: CallContext) -> Answer:
    """One key an item: what was posted already is answered as it was (E07)."""
    items = [{"key": f"{context.key}-{n}", "room": args.room, "text": text} for n, text in enumerate(args.texts)]
    made = post(context, "/batch", {"items": items})
    return Answer(result={"ids": [item["id"] for item in made["items"]]}, reference=made["items"][0]["id"])


def notices_seen(args: Notices, answer: Answer) -> Observed:
    found = [one["text"] for one in look("/batch")["items"] if one["room"] == args.room]
    return Observed(matches=found == args.texts, seen=found, reference=answer.reference)


def notices_unkeyed(args: Notices, context: CallContext) -> Answer:
    """Nothing ties an item to its call: nobody can tell how far it came."""
    made = post(context, "/batch", {"items": [{"room": args.room, "text": text} for text in args.texts]})
    return Answer(result={"ids": [item["id"] for item in made["items"]]}, reference=made["items"][0]["id"])


tool("c.batch", arguments=Notices, effect_class="keyed", verify=notices_seen, **QUICK)(notices_post)
tool("c.batch_opaque", arguments=Notices, effect_class="opaque", asks=False, **QUICK)(notices_unkeyed)


class Job(BaseModel):
    kind: str
    seconds: float
    outcome: str = "done"


def job_start(args: Job, context: CallContext) -> Started:
    made = post(context, "/jobs", args.model_dump())
    return Started(handle=made["handle"], poll_after=0.2)


def job_poll(handle: str) -> Answer | Started:
    state = look(f"/jobs/{handle}")
    if state["state"] == "running":
        return Started(handle=handle, poll_after=0.2)
    if state["state"] == "failed":
        raise Refused("The job failed.")
    return Answer(result={"state": state["state"]}, reference=handle)


tool("c.job", arguments=Job, effect_class="keyed", start=job_start, poll=job_poll, **QUICK)(job_start)


def hang() -> None:
    """Stay in C code that lets no other thread of this process run, for longer than any test."""
    re.match(r"(a+)+$", "a" * 60 + "b")


@tool("c.ticket_hangs_once", arguments=Title, effect_class="keyed", **QUICK)
def ticket_hangs_once(args: Title, context: CallContext) -> Answer:
    answer = ticket_open(args, context)
    if context.attempt == 1:
        hang()
    return answer


@tool("c.pay_hangs", arguments=Payment, effect_class="opaque", asks=False, **QUICK)
def pay_hangs(args: Payment, context: CallContext) -> Answer:
    pay_slow.execute(args, context)
    hang()
    return Answer()


@tool("c.die", arguments=Sku, effect_class="none", **QUICK)
def die(args: Sku, context: CallContext) -> Answer:
    os._exit(137)


@tool("c.busy", arguments=Sku, effect_class="none", timeout=60.0, **HERE)
def busy(args: Sku, context: CallContext) -> Answer:
    """Keep the interpreter busy in C code for so many seconds (the name of the sku)."""
    until = time.monotonic() + float(args.sku)
    while time.monotonic() < until:
        re.match(r"(a+)+$", "a" * 22 + "b")
    return Answer(result="done")


@tool("c.down", arguments=Sku, effect_class="none", attempts=3, **QUICK)
def down(args: Sku, context: CallContext) -> Answer:
    """An outside that only ever answers 503 to this."""
    raise OSError(f"try {context.attempt}: 503")


# --- scripts that worker processes run ---


@script
def one(view: TaskView) -> Decision:
    """Call ``intent.tool`` with ``intent.arguments`` once, be done."""
    if "act" not in view.calls:
        made = call(view.intent["tool"], name="act")
        return made.__class__(tool=made.tool, name="act", arguments=view.intent["arguments"])
    return complete(summary=view.calls["act"].state)


@script
def chain(view: TaskView) -> Decision:
    """Open ``intent.count`` tickets one after the other."""
    done = (view.state or {}).get("done", 0)
    if done < view.intent["count"]:
        title = f"{view.intent['title']}-{done + 1}"
        return call("t.ticket", name=f"c-{done + 1}", title=title, state={"done": done + 1})
    return complete(summary=f"{done} tickets")


@script
def deadly(view: TaskView) -> Decision:
    """A read, then a call that kills its worker."""
    if "c-1" not in view.calls:
        return call("t.stock", name="c-1", sku="B-9")
    if "c-2" not in view.calls:
        return call("c.die", name="c-2", sku="B-9")
    return complete()


@script
def until_tomorrow(view: TaskView) -> Decision:
    """Wait for a day."""
    return wait_until(name="tomorrow", seconds=86_400)


@script
def side_by_side(view: TaskView) -> Decision:
    """Two payments at once."""
    if "a" not in view.calls:
        pays = [call("c.pay_slow", name=name, payee=f"{view.intent['title']}-{name}", cents=5) for name in "ab"]
        return calls(*pays)
    return complete()


@script
def publish_one(view: TaskView) -> Decision:
    if "publish" not in view.calls:
        return call("c.ticket_asked", name="publish", title=str(view.intent["title"]))
    return complete(summary="published")
