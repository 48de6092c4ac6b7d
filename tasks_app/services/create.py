"""Creating tasks. The answer comes after the commit, never before (B01)."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User

from core.boundaries import Boundary
from core.code import code_digest
from core.models import Membership, Workspace
from core.tracing import span
from tasks_app.criteria import Criterion
from tasks_app.models import Task
from tasks_app.record.append import append
from tasks_app.record.events import After, TaskCreated
from tasks_app.record.stored import event_stored
from tasks_app.registry import Agent, agent_newest, agents
from tasks_app.services import intake
from tasks_app.services.command import announce, crossing
from tasks_app.services.requests import Answer, Request, request_of, request_once


def task_create(
    *,
    workspace: Workspace,
    owner: User,
    actor: str,
    agent: str,
    intent: Any,
    title: str = "",
    done_when: Sequence[Criterion | Mapping[str, Any]] = (),
    labels: Mapping[str, Any] | None = None,
    budget: Mapping[str, float] | None = None,
    request_key: str | None = None,
) -> Task:
    """Create a task and wake a worker for it. The same ``request_key`` and body by the same actor is one task.

    Args:
        workspace: where it lives. owner: the member who answers for it. actor: who asked ("person:rhea").
        agent: the name of the agent; its newest version is taken. intent: JSON, validated by the agent's schema.
        done_when: criteria besides the agent's own. budget: ``steps``, ``seconds``, ``tokens``, over the agent's own.

    Raises:
        InvalidInput: unknown agent or check, an intent that does not fit; names each field.
        TooLarge, RequestKeyReused (the key stands for another body).
    """
    given = [item.as_json() if isinstance(item, Criterion) else item for item in done_when]
    body = {"create": [agent, intent, title, given, labels, budget, owner.pk]}
    request = request_of(workspace=workspace, actor=actor, key=request_key, body=body) if request_key else None
    row = task_prepare(
        workspace=workspace,
        owner=owner,
        agent=agent_known(agent),
        intent=intent,
        title=title,
        done_when=given,
        labels=labels or {},
        budget=budget or {},
    )
    return _create(row, request=request, actor=actor)


def _create(row: Task, *, request: Request | None, actor: str) -> Task:
    with crossing(Boundary.CREATE, task=None):
        answer = request_once(request, lambda: Answer(stream=task_insert(row, actor=actor).id))
    return Task.objects.get(pk=answer.stream)


def agent_known(name: str) -> Agent:
    """Return the newest version of an agent. Raises InvalidInput listing the agents that are known."""
    found = agent_newest(name)
    if found is None:
        known = ", ".join(sorted({one.name for one in agents()})) or "none; set HANDRAIL_MODULES"
        raise intake.field_error("agent", f"there is no agent {name!r}; known: {known}.")
    return found


def task_prepare(
    *,
    workspace: Workspace,
    owner: User,
    agent: Agent,
    intent: Any,
    title: str = "",
    done_when: Sequence[Mapping[str, Any]] = (),
    labels: Mapping[str, Any] | None = None,
    budget: Mapping[str, float] | None = None,
    parent: Task | None = None,
) -> Task:
    """Return the unsaved row of a task, everything checked. Raises InvalidInput, TooLarge."""
    if not Membership.objects.filter(workspace=workspace, user=owner).exists():
        raise intake.field_error("owner", f"{owner.get_username()!r} is not a member of this workspace.")
    own = [{**one.as_json(), "source": "done_when"} for one in agent.done_when]
    asked = [{**one, "source": "intent"} for one in intake.criteria_checked(done_when)]
    return Task(
        workspace=workspace,
        owner=owner,
        agent=agent.name,
        agent_version=agent.version,
        code_digest=code_digest(),
        intent=intake.intent_checked(agent.intent, intent),
        title=intake.text_checked("title", title or _title_of(agent, intent), limit=intake.TITLE_LIMIT),
        done_when=own + asked,
        labels=intake.labels_checked(labels or {}),
        budget={**agent.budget, **intake.budget_checked(budget or {})},
        parent=parent,
    )


def _title_of(agent: Agent, intent: Any) -> str:
    said = intent.get("title") if isinstance(intent, Mapping) else None
    return said[: intake.TITLE_LIMIT] if isinstance(said, str) and said.strip() else agent.name


def task_insert(row: Task, *, actor: str, copied_from: dict[str, Any] | None = None) -> Task:
    """Write a prepared task with its first event, due at once; inside the caller's transaction.

    A spawn calls this in the transaction of ``child.spawned`` (W03).
    """
    created = task_created(row, copied_from=copied_from)
    row.save(force_insert=True)
    with span("task.create", task=row.id, agent=row.agent, actor=actor):
        done = append(stream=row.id, events=[created], actor=actor, task={"wake_at": After(0)})
    announce(task=row.id, workspace=row.workspace_id, seq=done.head_seq, due=True)
    return row


def task_created(row: Task, *, copied_from: dict[str, Any] | None = None) -> TaskCreated:
    """Return the first event of a prepared task; the row takes over the stored form of its intent."""
    created = TaskCreated(
        workspace=str(row.workspace_id),
        owner=row.owner.get_username(),
        agent=row.agent,
        agent_version=row.agent_version,
        code_digest=row.code_digest,
        title=row.title,
        intent=row.intent,
        done_when=row.done_when,
        labels=row.labels,
        budget=row.budget,
        parent=str(row.parent_id) if row.parent_id else None,
        copied_from=copied_from,
    )
    row.intent = event_stored(created).intent  # the append keeps the masked original of what had to be altered
    return created
