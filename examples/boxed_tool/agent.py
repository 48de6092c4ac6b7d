"""An agent that has a page read for it: what strangers wrote is parsed in a sandbox, never in the worker."""

from pydantic import BaseModel, Field

from tasks_app.criteria import Observation, check, criterion
from tasks_app.decisions import Decision, call, complete, fail
from tasks_app.registry import agent
from tasks_app.view import TaskView


class Given(BaseModel):
    """What a task of this agent is given."""

    html: str = Field(min_length=1, description="A page, as it was found.")


@check("page.is_there")
def page_is_there(*, html: str) -> Observation:
    """Hold where there was something to read."""
    return Observation(holds=bool(html), expected="a page", seen=f"{len(html)} characters")


@agent("page.reader", intent=Given, budget={"steps": 5}, done_when=[criterion("page.is_there", html="{intent.html}")])
def page_reader(view: TaskView) -> Decision:
    """Count the words of a page."""
    if "words" not in view.calls:
        return call("page.words", name="words", html=view.intent["html"])
    words = view.calls["words"]
    if not words.ok:
        return fail(f"It could not be read: {(words.refusal or {}).get('reason', words.state)}")
    return complete(summary=f"It has {words.answer['words']} words.")
