"""The agent: a function from the record so far to the next decision.

It is called again after each step, by whichever worker holds the task. It keeps nothing in memory: what has happened
is in ``view.calls``, by the names that it gave. A name stands for an effect, once in the task's whole life.
"""

from pydantic import BaseModel, Field

from tasks_app.criteria import criterion
from tasks_app.decisions import Decision, call, complete, fail
from tasks_app.registry import agent
from tasks_app.view import TaskView


class Announcement(BaseModel):
    """What a task of this agent is given; the start form is made from it."""

    room: str = Field(min_length=1, description="Where it is announced: kitchen, lobby or yard.")
    text: str = Field(min_length=1, description="What is announced.")


@agent(
    "own.agent",
    version=1,  # raise it when you change what the agent does; continues=[1] if it may finish tasks begun by version 1
    intent=Announcement,
    budget={"steps": 20},
    done_when=[criterion("own.posted", room="{intent.room}", text="{intent.text}")],
)
def own_agent(view: TaskView) -> Decision:
    """Post one announcement and make sure that it is there."""
    wanted = Announcement.model_validate(view.intent)
    if view.refused:
        return fail(f"The last decision could not be carried out: {view.refused[0]['reason']}")
    if "post" not in view.calls:
        return call("own.post", name="post", room=wanted.room, text=wanted.text)
    posted = view.calls["post"]
    if not posted.ok:
        return fail(f"It was not posted: {(posted.refusal or {}).get('reason', posted.state)}")
    return complete(summary=f"Announced in {wanted.room} as number {posted.reference}.")
