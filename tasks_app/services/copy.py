"""A copy from a step: a new task with new calls, keys and approvals; it starts from what was settled by then."""

from typing import Any
from uuid import UUID

from django.contrib.auth.models import User

from core.boundaries import Boundary
from core.errors import NotFound
from core.models import Workspace
from tasks_app.models import Call, Event, Task
from tasks_app.runtime.book import Ended, call_view
from tasks_app.runtime.origin import call_kept, origin_of
from tasks_app.runtime.state import state_at
from tasks_app.services import intake
from tasks_app.services.command import crossing
from tasks_app.services.create import task_insert
from tasks_app.services.requests import Answer, request_of, request_once
from tasks_app.services.steer import refuse
from tasks_app.status import EXTERNAL_VERSION


def task_copy(
    *,
    workspace: Workspace,
    task: UUID,
    owner: User,
    actor: str,
    step: int | None = None,
    title: str = "",
    request_key: str | None = None,
) -> Task:
    """Start a copy of a task from the checkpoint of ``step`` (by default the last checkpoint).

    ``copied_from`` holds the state, the settled calls with their answers, ended waits and children up to there: the
    copy reads them and does not run them again. What it runs afterwards are its own calls, keys and approvals.
    Raises NotFound, InvalidInput (no checkpoint of that step), RequestKeyReused, NotNow (its agent runs outside).
    """
    source = Task.objects.filter(workspace=workspace, pk=task).first()
    if source is None:
        raise NotFound
    if source.agent_version == EXTERNAL_VERSION:
        raise refuse(source, "copied", instead="Its agent runs outside of Handrail and opens its own tasks.")
    # As it was asked for: "the last checkpoint" is another one when the same request is sent again later.
    body = {"copy": [str(task), step, title, owner.pk]}
    request = request_of(workspace=workspace, actor=actor, key=request_key, body=body) if request_key else None
    seq, step = _checkpoint(source, step)
    row = _row(source, owner, title)
    origin = _origin(source, seq, step)
    with crossing(Boundary.CREATE, task=None):
        answer = request_once(request, lambda: Answer(stream=task_insert(row, actor=actor, copied_from=origin).id))
    return Task.objects.get(pk=answer.stream)


def _checkpoint(source: Task, step: int | None) -> tuple[int, int]:
    found = Event.objects.filter(stream=source.pk, kind="checkpoint.advanced").order_by("seq")
    if step == 0 or (step is None and not found.exists()):
        return 1, 0
    last = (found if step is None else found.filter(data__step=step)).last()
    if last is None:
        raise intake.field_error("step", f"there is no checkpoint of step {step}; a copy starts from a settled step.")
    return last.seq, int(last.data["step"])


def _row(source: Task, owner: User, title: str) -> Task:
    title = title or f"Copy of {source.title}"
    return Task(
        workspace_id=source.workspace_id,
        owner=owner,
        agent=source.agent,
        agent_version=source.agent_version,
        code_digest=source.code_digest,
        intent=source.intent,
        title=intake.text_checked("title", title[: intake.TITLE_LIMIT], limit=intake.TITLE_LIMIT),
        done_when=source.done_when,
        labels=source.labels,
        budget=source.budget,
        is_copy=True,
    )


def _origin(source: Task, seq: int, step: int) -> dict[str, Any]:
    """Return what the copy starts from, whole: it must not need the original, which may be purged one day."""
    ended = {kind: Ended(source, kind, until=seq) for kind in ("wait.ended", "child.settled")}
    return {
        "task": str(source.pk),
        "seq": seq,
        "step": step,
        "state": state_at(source, seq),
        "calls": {**origin_of(source).get("calls", {}), **_calls(source, seq)},
        "waits": dict(ended["wait.ended"].items()),
        "children": dict(ended["child.settled"].items()),
    }


def _calls(source: Task, seq: int) -> dict[str, Any]:
    rows = Call.objects.filter(task=source, settled_seq__lte=seq, replaced_by="").order_by("step", "ordinal")
    return {row.name: call_kept(call_view(row)) for row in rows}
