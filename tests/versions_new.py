"""The new version of the same agent, which goes on with tasks of the old one."""

from tasks_app.criteria import criterion
from tasks_app.decisions import Decision, complete, wait_for_signal
from tasks_app.registry import agent
from tasks_app.view import TaskView
from tests.agents import note_is_there

__all__ = ["note_is_there"]


@agent("two.versions", version=2, continues=[1], done_when=[criterion("note.is_there", box="in")])
def new(view: TaskView) -> Decision:
    if "go" not in view.waits:
        return wait_for_signal("go", name="go")
    return complete(summary="the new version said so")
