"""Agents and checks for tests that need one; ``HANDRAIL_MODULES=tests.agents`` gives them to other processes."""

from pydantic import BaseModel, Field

from tasks_app.criteria import Observation, check, criterion
from tasks_app.decisions import Decision, complete
from tasks_app.registry import agent
from tasks_app.view import TaskView


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
