"""Agents and checks for tests that need one; ``HANDRAIL_MODULES=tests.agents`` gives them to other processes."""

from pydantic import BaseModel, Field

from tasks_app.contracts import Answer, CallContext, Unknown
from tasks_app.criteria import Observation, check, criterion
from tasks_app.decisions import Decision, call, complete, wait_for_signal
from tasks_app.registry import agent, tool
from tasks_app.view import TaskView
from tests.here import HERE


class Note(BaseModel):
    text: str = Field(min_length=1)
    copies: int = 1


@check("note.is_there")
def note_is_there(**arguments: object) -> Observation:
    return Observation(holds=True, expected=arguments, seen=arguments)


@agent("test.note", version=1, intent=Note, budget={"steps": 50}, done_when=[criterion("note.is_there", box="in")])
def note_old(view: TaskView) -> Decision:
    return complete(summary="old")


@agent("test.note", version=2, continues=[1], intent=Note, budget={"steps": 50})
def note(view: TaskView) -> Decision:
    return complete(summary="new")


@agent("test.free", version=1)
def free(view: TaskView) -> Decision:
    return complete(summary="anything goes")


OUTSIDE: list[str] = []  # keys of the notes that were written; tests clear it
GONE: set[str] = set()  # boxes whose note has gone


class Written(BaseModel):
    text: str


@tool("note.write", arguments=Written, effect_class="keyed", lag=0.0, **HERE)
def note_write(arguments: Written, context: CallContext) -> Answer:
    if context.key not in OUTSIDE:
        OUTSIDE.append(context.key)
    return Answer(result={"text": arguments.text}, reference=f"note-{len(OUTSIDE)}")


@tool(
    "note.shout",
    arguments=Written,
    effect_class="opaque",
    asks=False,
    timeout=0.1,
    lag=0.0,
    how_to_check="ask the neighbours",
    **HERE,
)
def note_shout(arguments: Written, context: CallContext) -> Answer:
    raise Unknown("the line broke")


@check("box.holds")
def box_holds(box: str) -> Observation:
    return Observation(holds=box not in GONE, expected=box, seen="nothing" if box in GONE else box)


@agent("test.writer", version=1, done_when=[criterion("box.holds", box="in")])
def writer(view: TaskView) -> Decision:
    """Write, wait to be told, write again with what was told, be done."""
    if "first" not in view.calls:
        return call("note.write", name="first", text="one", state={"written": 1})
    if "told" not in view.waits:
        return wait_for_signal("go", name="told")
    if "second" not in view.calls:
        return call("note.write", name="second", text=str(view.waits["told"]), state={"written": 2})
    return complete(summary=view.calls["first"].answer["text"])


@agent("test.shouter", version=1, done_when=[criterion("box.holds", box="in")])
def shouter(view: TaskView) -> Decision:
    """Shout once; nobody can tell whether it was heard."""
    if "shout" not in view.calls:
        return call("note.shout", name="shout", text="hey")
    return complete(summary=view.calls["shout"].state)
