"""An agent whose tool logs a line by Python's own logging, as users' code does."""

import logging

from pydantic import BaseModel

from tasks_app.contracts import Answer, CallContext
from tasks_app.criteria import criterion
from tasks_app.decisions import Decision, call, complete
from tasks_app.registry import agent, tool
from tasks_app.view import TaskView
from tests.here import HERE


class Nothing(BaseModel):
    pass


@tool("talk.aloud", arguments=Nothing, effect_class="keyed", lag=0.0, **HERE)
def talk_aloud(arguments: Nothing, context: CallContext) -> Answer:
    logging.getLogger("talkative").warning("said aloud")
    return Answer(reference="heard")


@agent("talk.once", version=1, done_when=[criterion("note.is_there", box="in")])
def talk_once(view: TaskView) -> Decision:
    if "talk" not in view.calls:
        return call("talk.aloud", name="talk")
    return complete(summary="said")
