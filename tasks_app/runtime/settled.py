"""What follows when a step's calls are all settled, and parking in a wait of the agent's own."""

from uuid import UUID

from core.boundaries import Boundary
from tasks_app.parents import parent_parked
from tasks_app.record.append import Seq
from tasks_app.record.events import CheckpointAdvanced
from tasks_app.runtime.ending import slice_end
from tasks_app.runtime.session import Session
from tasks_app.runtime.view_make import Book
from tasks_app.status import Status, WaitKind


def checkpoint_later(session: Session, book: Book) -> bool:
    """Advance the checkpoint over the last step, once all its calls are settled; it rides in the next commit (C)."""
    step = session.task.step
    if session.checkpointed >= step:
        return False
    session.checkpointed = step
    book.calls.forget()
    session.later(
        [CheckpointAdvanced(step=step)],
        task={
            "checkpoint_seq": Seq(1),
            "checkpoint_step": step,
            "losses": 0,
            "loss_place": "",
            "one_by_one": False,
        },
    )
    return True


def settled_commit(session: Session) -> None:
    """Commit what rides by itself: commit C alone (C01)."""
    if session.pending.events:
        session.commit_again(lambda: ([], {}), boundary=Boundary.CHECKPOINT)


def wait_park(session: Session) -> None:
    """Let go of a task that waits for a time, a signal or a child (``wait.started`` is recorded already)."""
    wait = session.task.open_wait or {}
    change = {"status": Status.WAITING, "wait": wait, "wake_at": wait.get("until")}
    if slice_end(session, "parked", task=change) and wait.get("kind") == WaitKind.CHILD:
        child = session.task.child_tasks[wait["on"]]["child"]
        parent_parked(parent=session.lease.task, child=UUID(child))
