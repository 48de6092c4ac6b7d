"""What a model is shown is kept as what changed, and is whole at each question whoever asked it."""

from collections.abc import Callable

from tasks_app.decisions import Decision, complete, state
from tasks_app.models import Event
from tasks_app.runtime.selection import selection_at
from tasks_app.status import Status
from tasks_app.view import TaskView
from tests.integration.runtime.conftest import Rig, fresh
from tests.integration.runtime.test_every_crossing import ENDS
from tests.scripts import script


class Said:
    output, tokens = "yes", 10


@script
def talks(view: TaskView) -> Decision:
    said = [{"role": "user", "content": f"{turn}: {'x' * 500}"} for turn in range(1, view.step + 2)]
    context = said[-30:]  # what is older makes room
    view.ask("And now?", model="test", ask=lambda question: Said(), largest_cost=40, context=context, instructions="Go")
    return state({"asked": view.step}) if view.step < 45 else complete()


def test_a_talk_that_grows_keeps_what_is_new_alone_and_is_whole_at_each_question(rig: Callable[[], Rig]) -> None:
    """D01 dies once: what was selected then is what the next one builds upon."""
    one = rig()
    one.die_at = ("D01", "after_receive", 7)
    task = one.run(one.task("case.script", script="talks", title=fresh()), until=lambda t: t.status in ENDS)
    assert (one.died, task.status) == (True, Status.COMPLETED)
    asked = list(Event.objects.filter(stream=task.pk, kind="context.selected").order_by("seq"))
    assert len(asked) == 47
    for event in asked:
        turns = range(max(1, event.data["step"] - 29), event.data["step"] + 1)
        whole = selection_at(task.pk, event.seq)
        assert [part["content"].partition(":")[0] for part in whole.parts] == [str(turn) for turn in turns]
        assert whole.instructions == "Go"
    assert sum(event.data.get("since") is None for event in asked) == 3
    assert sum(len(event.data["added"]) for event in asked) < 45 + 3 * 30
