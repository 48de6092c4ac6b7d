"""A batch counts its events: what points at one of them goes on pointing at it."""

from tasks_app.record.append import CallChange, Seq
from tasks_app.record.events import CallVerified, CheckpointAdvanced
from tasks_app.runtime.batch import Batch


def test_what_stands_behind_an_event_that_is_taken_out_moves_up_by_one() -> None:
    batch, taken = Batch(), CallVerified(name="b", seen=None, reference=None)
    for event in (CallVerified(name="a", seen=None, reference=None), taken):
        batch.add([event], calls=[CallChange(name="a", set={"settled_seq": Seq(1)})] if event is not taken else [])
    last = CheckpointAdvanced(step=1)
    batch.add(
        [last], task={"checkpoint_seq": Seq(1)}, calls=[CallChange(name="c", set={"answer_seq": Seq(1), "attempts": 2})]
    )
    batch.drop(taken)
    assert batch.events[1:] == [last]
    assert batch.task == {"checkpoint_seq": Seq(2)}
    assert [dict(batch.calls[name].set) for name in "ac"] == [
        {"settled_seq": Seq(1)},
        {"answer_seq": Seq(2), "attempts": 2},
    ]
