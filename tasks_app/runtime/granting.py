"""Issuing grants for calls that are about to act, in a commit of their own before anything is handed over."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from uuid import UUID

from django.db import transaction

from core.boundaries import Boundary
from tasks_app.contracts import Contract, Refused
from tasks_app.credentials.granting import Granted, Purpose, grants_make
from tasks_app.record.events import Event
from tasks_app.runtime.batch import Inside
from tasks_app.runtime.ready import Ready
from tasks_app.runtime.session import Session


def granted_first(session: Session, ready: Sequence[Ready]) -> tuple[list[Ready], list[tuple[Ready, Refused]]]:
    """Return what may act, each with its grants, and what may not because a credential is missing."""
    able: list[Ready] = []
    refused: list[tuple[Ready, Refused]] = []
    for item in ready:
        try:
            able.append(replace(item, granted=_issue(session, item)) if item.contract.credentials else item)
        except Refused as refusal:
            refused.append((item, refusal))
    return able, refused


def _issue(session: Session, item: Ready) -> Granted:
    made: list[Granted] = []
    purpose = Purpose(
        workspace=session.lease.workspace,
        task=session.lease.task,
        call=item.name,
        role="start" if item.contract.start else "execute",
        attempt=item.context.attempt,
    )

    def inside() -> Inside:
        granted, events = grants_make(item.contract.credentials, purpose, seconds=item.contract.timeout)
        made.append(granted)
        return Inside(after=events)

    session.commit_again(lambda: ([], {}), boundary=Boundary.DECIDE, inside=inside, call=item.name)
    return made[-1]


@dataclass(slots=True)
class Looking:
    """A look-up, read-back or poll that is being made, and for which call; ``notes`` is for its record."""

    workspace: UUID
    task: UUID
    call: str
    notes: list[Event] = field(default_factory=list)


_looking: ContextVar[Looking | None] = ContextVar("looking", default=None)


@contextmanager
def looking(*, workspace: UUID, task: UUID, call: str) -> Iterator[list[Event]]:
    """Say for which call what runs in this block looks; yields the events that its record shall have."""
    made = Looking(workspace, task, call)
    token = _looking.set(made)
    try:
        yield made.notes
    finally:
        _looking.reset(token)


def looking_now() -> Looking | None:
    """Return what is being looked at in this thread."""
    return _looking.get()


def granted_to_look(contract: Contract, role: str, *, seconds: float) -> Granted:
    """Issue what a look-up needs. Raises Refused where a credential is missing, or nobody said for which call."""
    if not contract.credentials:
        return Granted()
    here = looking_now()
    if here is None:
        raise Refused("Credentials are granted to calls of a task, and this is none.", code="credential-missing")
    purpose = Purpose(workspace=here.workspace, task=here.task, call=here.call, role=role)
    with transaction.atomic():
        granted, events = grants_make(contract.credentials, purpose, seconds=seconds)
    here.notes += events
    return granted
