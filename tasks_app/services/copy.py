"""A copy from a step: a new task with new calls, keys and approvals; it starts from what was settled by then."""

from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Q

from core.boundaries import Boundary
from core.errors import NotFound
from core.models import Workspace
from tasks_app.models import Call, Event, Task
from tasks_app.services import intake
from tasks_app.services.command import crossing
from tasks_app.services.create import task_insert
from tasks_app.services.requests import Answer, request_of, request_once


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

    Calls of the original up to there are named in ``copied_from`` with their answers: the copy reads them and does
    not run them again; what it runs afterwards are its own calls, under its own keys and approvals.
    Raises NotFound, InvalidInput (no checkpoint of that step), RequestKeyReused.
    """
    source = Task.objects.filter(workspace=workspace, pk=task).first()
    if source is None:
        raise NotFound
    seq, step = _checkpoint(source, step)
    body = {"copy": [str(task), step, title, owner.pk]}
    request = request_of(workspace=workspace, actor=actor, key=request_key, body=body) if request_key else None
    row = _row(source, owner, title)
    origin = {"task": str(source.pk), "seq": seq, "step": step, "calls": _calls(source, seq)}
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
    )


def _calls(source: Task, seq: int) -> dict[str, Any]:
    """Name the calls that were settled by then: their state and where the original's record holds them."""
    settled = Q(settled_seq__lte=seq) | Q(state="ok", answer_seq__lte=seq)
    names = ("name", "tool", "state", "reference", "intended_seq", "answer_seq", "settled_seq")
    rows = Call.objects.filter(settled, task=source).order_by("step", "ordinal").values(*names)
    return {row.pop("name"): row for row in rows}
