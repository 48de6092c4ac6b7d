"""Children: created in the transaction that records them (W03)."""

from core.boundaries import Boundary
from core.errors import HandrailError
from tasks_app.decisions import Spawn
from tasks_app.record.events import ChildSpawned
from tasks_app.runtime.batch import Inside
from tasks_app.runtime.decided import Decided
from tasks_app.runtime.intending import CannotIntend
from tasks_app.runtime.session import Session
from tasks_app.services.create import agent_known, task_insert, task_prepare


def spawn_commit(session: Session, decision: Spawn, step: int, decided: Decided) -> None:
    """Commit the decision, the child and ``child.spawned`` in one transaction."""
    parent = session.task
    if decision.name in parent.child_tasks:
        raise CannotIntend("name-used", f"A child named {decision.name!r} exists already.", name=decision.name)
    children = dict(parent.child_tasks)

    def inside() -> Inside:
        row = task_prepare(
            workspace=parent.workspace,
            owner=parent.owner,
            agent=agent_known(decision.agent),
            intent=dict(decision.intent),
            title=decision.title,
            done_when=[one.as_json() for one in decision.done_when],
            budget=decision.budget,
            parent=parent,
        )
        child = task_insert(row, actor=session.actor)
        children[decision.name] = {"child": str(child.pk), "settled": False}
        return Inside(after=[ChildSpawned(name=decision.name, child=str(child.pk), agent=decision.agent, step=step)])

    try:
        session.commit_again(
            lambda: ([decided.event], {"task": {**decided.task, "child_tasks": children}}),
            boundary=Boundary.SPAWN,
            inside=inside,
        )
    except HandrailError as error:
        if error.status == 409:
            raise
        raise CannotIntend("cannot-spawn", error.detail, name=decision.name) from error
