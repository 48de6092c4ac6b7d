"""The old version of an agent, as a worker of the old deployment carries it."""

from tasks_app.criteria import criterion
from tasks_app.decisions import Decision, complete, wait_for_signal
from tasks_app.registry import agent
from tasks_app.view import TaskView
from tests.agents import note_is_there

__all__ = ["note_is_there"]


@agent("two.versions", version=1, done_when=[criterion("note.is_there", box="in")])
def old(view: TaskView) -> Decision:
    if "go" not in view.waits:
        return wait_for_signal("go", name="go")
    return complete(summary="the old version said so")
