"""Tasks over HTTP: create, list, read."""

from typing import Annotated, Any
from uuid import UUID

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from ninja import Header, Query, Router, Status

from core.access import Right
from core.principal import Principal, caller
from tasks_app.api.commands import router as commands
from tasks_app.api.schemas import (
    CallOut,
    EventsOut,
    TaskIn,
    TaskListOut,
    TaskOut,
    call_out,
    event_out,
    row_out,
    task_out,
)
from tasks_app.models import Task
from tasks_app.selectors.brief import resume_brief
from tasks_app.selectors.events import blob_get, events_window
from tasks_app.selectors.tasks import TaskFilter, task_get, task_list
from tasks_app.services.create import task_create
from tasks_app.services.intake import field_error

router = Router()
router.add_router("", commands)

Key = Annotated[str | None, Header(alias="Idempotency-Key")]


@router.post("", response={201: TaskOut})
def create(request: HttpRequest, body: TaskIn, idempotency_key: Key = None) -> Any:
    """Create a task. The same request key and body is the same task; another body under that key is a 409."""
    who = caller(request, Right.TASKS_CREATE)
    task = task_create(
        workspace=who.workspace,
        owner=_owner(who, body.owner),
        actor=who.actor,
        agent=body.agent,
        intent=body.intent,
        title=body.title,
        done_when=body.done_when,
        labels=body.labels,
        budget=body.budget,
        request_key=body.request_key or idempotency_key,
    )
    return Status(201, task_out(task))


def _owner(who: Principal, username: str) -> User:
    """Return who answers for the task. Raises InvalidInput.

    A program's task is that of the person whose token it has: else that person could decide what they had it ask for
    (rule 6).
    """
    if username in {"", who.user.get_username()}:
        return who.user
    if who.agent:
        raise field_error("owner", "a program's task belongs to the person whose token it has.")
    found = User.objects.filter(username=username, memberships__workspace=who.workspace).first()
    if found is None:
        raise field_error("owner", f"{username!r} is not a member of this workspace.")
    return found


@router.get("", response=TaskListOut)
def listing(
    request: HttpRequest,
    text: str = "",
    status: str = "",
    agent: str = "",
    label: str = "",
    owner: str = "",
    parent: UUID | None = None,
    before: UUID | None = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
) -> Any:
    """List tasks by key, newest first."""
    who = caller(request, Right.TASKS_READ)
    filters = TaskFilter(text=text, status=status, agent=agent, label=label, owner=owner, parent=parent)
    page = task_list(workspace=who.workspace, filters=filters, before=before, limit=limit)
    return {"items": [row_out(task) for task in page.rows], "next": page.next}


def _task(request: HttpRequest, task: UUID) -> Task:
    return task_get(workspace=caller(request, Right.TASKS_READ).workspace, task=task)


@router.get("/{uuid:task}", response=TaskOut)
def one(request: HttpRequest, task: UUID) -> Any:
    """Read a task."""
    return task_out(_task(request, task))


@router.get("/{uuid:task}/events", response=EventsOut)
def events(
    request: HttpRequest,
    task: UUID,
    after: Annotated[int | None, Query(ge=0)] = None,
    before: Annotated[int | None, Query(ge=1)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 200,
) -> Any:
    """Read a window of the record: the events after a sequence, or the last ones before one."""
    window = events_window(task=_task(request, task), after=after, before=before, limit=limit)
    return {
        "items": [event_out(event) for event in window.events],
        "head_seq": window.head_seq,
        "has_more": window.has_more,
    }


@router.get("/{uuid:task}/resume-brief", response=dict[str, Any])
def brief(request: HttpRequest, task: UUID, at: Annotated[int | None, Query(ge=1)] = None) -> Any:
    """Say what a new worker would need to continue safely, now or at a sequence of the past."""
    return resume_brief(task=_task(request, task), at=at)


@router.get("/{uuid:task}/calls", response=list[CallOut])
def calls(request: HttpRequest, task: UUID) -> Any:
    """Read the calls of a task, in their order."""
    return [call_out(call) for call in _task(request, task).calls.order_by("step", "ordinal")]


@router.get("/{uuid:task}/blobs/{sha256}")
def blob(request: HttpRequest, task: UUID, sha256: str) -> HttpResponse:
    """Read what an event refers to as ``$blob``: always a download, never something that a browser would run."""
    found = blob_get(task=_task(request, task), sha256=sha256)
    response = HttpResponse(bytes(found.content), content_type="application/octet-stream")
    response["Content-Disposition"] = f'attachment; filename="{found.sha256}"'
    return response
