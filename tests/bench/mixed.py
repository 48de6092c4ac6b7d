"""A load of every effect class, with an outside that is a folder: one file a call, one line each time it took effect.

One attempt in twenty goes wrong the first time: applied and the answer lost, not applied and no answer, or applied and
the process killed with SIGKILL. Which one is decided by the call's name, so that two runs are of the same load.
"""

import hashlib
import os
import signal
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from tasks_app.contracts import Absent, Answer, CallContext, Found, LookUp, Observed, Unknown
from tasks_app.criteria import Observation, check, criterion
from tasks_app.decisions import Decision, call, complete
from tasks_app.registry import agent, tool
from tasks_app.view import TaskView
from tests.here import HERE

SHARE = 0.05
CALLS = ("keyed", "readable", "opaque", "none")
TIMES: dict[str, Any] = {"timeout": 2.0, "lag": 0.2, **HERE}


class Entry(BaseModel):
    """One entry in the outside's book."""

    nth: int
    kind: str


def outside() -> Path:
    """The folder of the outside, beside the servers of this run."""
    folder = Path(os.environ["HANDRAIL_VAR"]) / "outside"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def page(args: Entry) -> Path:
    """Where one call's effects are counted."""
    return outside() / f"{args.kind}-{args.nth}"


def fault(args: Entry) -> str:
    """What goes wrong at the first attempt: ``lost``, ``silent``, ``killed`` or nothing."""
    digest = hashlib.sha256(f"{args.kind} {args.nth}".encode()).digest()
    return ("lost", "silent", "killed")[digest[0] % 3] if digest[1] < SHARE * 256 else ""


def apply(args: Entry, context: CallContext, *, once: bool) -> str:
    """Take effect, unless it has by this key (``once``); go wrong as the load says."""
    first = context.attempt == 1 and context.name == args.kind  # not of a call that a person let run again
    wrong = fault(args) if first else ""
    if wrong == "silent":
        raise Unknown("no answer came")
    if not (once and page(args).exists()):
        with page(args).open("a") as book:
            book.write(f"{context.key}\n")
    if wrong == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if wrong == "lost":
        raise Unknown("the answer was lost")
    return page(args).name


def verify(args: Entry, answer: Answer) -> Observed:
    lines = page(args).read_text().splitlines() if page(args).exists() else []
    return Observed(matches=len(lines) == 1, seen={"times": len(lines)}, reference=page(args).name)


def find(key: str) -> LookUp:
    for book in outside().glob("readable-*"):
        if key in book.read_text().split():
            kind, _, nth = book.name.rpartition("-")
            return Found(reference=book.name, arguments={"nth": int(nth), "kind": kind}, result=book.name)
    return Absent()


@tool("mixed.keyed", arguments=Entry, effect_class="keyed", verify=verify, **TIMES)
def keyed(args: Entry, context: CallContext) -> Answer:
    return Answer(result=args.nth, reference=apply(args, context, once=True))


@tool(
    "mixed.readable", arguments=Entry, effect_class="readable", lag=0.2, timeout=2.0, find=find, verify=verify, **HERE
)
def readable(args: Entry, context: CallContext) -> Answer:
    return Answer(result=args.nth, reference=apply(args, context, once=False))


@tool("mixed.opaque", arguments=Entry, effect_class="opaque", **TIMES)
def opaque(args: Entry, context: CallContext) -> Answer:
    return Answer(result=args.nth, reference=apply(args, context, once=False))


@tool("mixed.none", arguments=Entry, effect_class="none", **HERE)
def read(args: Entry, context: CallContext) -> Any:
    return {"nth": args.nth}


@check("mixed.written")
def written(nth: int) -> Observation:
    seen = [outside().joinpath(f"{kind}-{nth}").exists() for kind in CALLS[:3]]
    return Observation(holds=all(seen), expected=[True] * 3, seen=seen)


@agent("bench.mixed", done_when=[criterion("mixed.written", nth="{intent.nth}")])
def mixed(view: TaskView) -> Decision:
    """Each class once, one after the other."""
    for kind in CALLS:
        if kind not in view.calls:
            return call(f"mixed.{kind}", name=kind, nth=view.intent["nth"], kind=kind)
    return complete()
