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


PARTS: list[dict[str, object]] = []


@script
def changes_in_place(view: TaskView) -> Decision:
    """Keeps one list of parts and changes what is in it, as agents do."""

    def ask(context: list[dict[str, object]]) -> None:
        view.ask("And now?", model="test", ask=lambda question: Said(), largest_cost=1, context=context)

    PARTS[:] = [{"role": "user", "content": ["first", 1]}]
    for number in range(3):
        ask(PARTS)
        PARTS[0]["content"] += [number]
    for value in (1, True):
        ask([{"role": "user", "is": value}])
    return complete()


def test_what_an_agent_changes_in_place_is_recorded_as_it_was_shown_each_time(rig: Callable[[], Rig]) -> None:
    one = rig()
    task = one.run(one.task("case.script", script="changes_in_place", title=fresh()), until=lambda t: t.status in ENDS)
    asked = Event.objects.filter(stream=task.pk, kind="context.selected").order_by("seq")
    shown = [selection_at(task.pk, event.seq).parts for event in asked]
    told = [["first", 1], ["first", 1, 0], ["first", 1, 0, 1]]
    assert shown[:3] == [[{"role": "user", "content": content}] for content in told]
    assert [repr(parts[0]["is"]) for parts in shown[3:]] == ["1", "True"]
