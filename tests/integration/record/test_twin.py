"""The append statement and its ORM twin leave the same rows behind, and refuse the same appends."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.db.models import Model
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from psycopg.sql import SQL, Identifier

from core.models import Workspace
from tasks_app.models import Blob, Call, Event, StopSwitch, Task
from tasks_app.record import append as statement
from tasks_app.record import twin
from tasks_app.record.append import CallChange, Stale, Token
from tasks_app.record.bodies import micros
from tasks_app.record.events import After, CallOutcome, CheckpointAdvanced, SwitchChanged
from tests.integration.record.appends import NONCE, OTHER, STEPS, Step, new_call


@pytest.fixture
def place(db: None) -> tuple[Workspace, User]:
    return Workspace.objects.create(slug="w", name="W"), User.objects.create(username="u")


@settings(
    max_examples=25,
    deadline=None,
    phases=set(Phase) - {Phase.shrink},
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=st.lists(STEPS, min_size=1, max_size=6))
@example(steps=[])
@example(
    steps=[
        Step(
            events=[CallOutcome(name="one", attempt=0, outcome="ok", result={"\ud800": None})],
            task={},
            new=[],
            changed={},
            token="none",
            off=None,
            admission=None,
            after_end=False,
            stop=False,
        )
    ]
)
def test_the_statement_and_the_orm_leave_the_same_rows_and_refuse_the_same_appends(
    place: tuple[Workspace, User], steps: list[Step]
) -> None:
    task = uuid4()
    ours, theirs = (_played(place, task, steps, append) for append in (statement.append, twin.append))
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        assert _same(one, other), (one, other)


def test_the_administration_stream_is_the_same_either_way(place: tuple[Workspace, User]) -> None:
    events = [SwitchChanged(what="stop all", before=None, after_change={"reason": "x" * 9000}, reason="why\0")] * 10
    found = []
    for append in (statement.append_administration, twin.append_administration):
        with transaction.atomic():
            for few in (events[:1], events[:3], events):
                append(workspace=place[0].pk, events=few, actor="person:u")
            rows = [*Event.objects.order_by("seq"), *Blob.objects.order_by("sha256"), Workspace.objects.get()]
            found.append([_plain(row) for row in rows])
            assert _chain_holds(place[0].pk, bytes(Workspace.objects.get().head_digest))
            transaction.set_rollback(True)
    assert _same(*found)


def _played(place: tuple[Workspace, User], task: UUID, steps: list[Step], append: Any) -> list[Any]:
    """Play the steps on a new task in a transaction that is rolled back; return what happened and what is there."""
    with transaction.atomic():
        workspace, user = place
        Task.objects.create(
            pk=task, workspace=workspace, owner=user, agent="a", agent_version=1, title="t", intent={"n": 1}
        )
        claimed = {"status": "running", "lease_epoch": 1, "lease_nonce": NONCE, "lease_until": After(600)}
        append(stream=task, events=[CheckpointAdvanced(step=0)], actor="w", task=claimed)
        answers = [_step(place, task, step, append) for step in steps]
        head = Task.objects.get(pk=task)
        rows = [head, *Event.objects.order_by("seq"), *Call.objects.order_by("name"), *Blob.objects.order_by("sha256")]
        answers += [_plain(row) for row in rows]
        assert _chain_holds(task, bytes(head.head_digest))
        transaction.set_rollback(True)
    return answers


def _step(place: tuple[Workspace, User], task: UUID, step: Step, append: Any) -> Any:
    if step.stop:
        StopSwitch.objects.get_or_create(scope="agent", workspace=place[0], name="a", defaults={"set_by": place[1]})
    head = Task.objects.get(pk=task)
    known = set(Call.objects.filter(task=task).values_list("name", flat=True))
    tokens = {
        "none": None,
        "held": Token(epoch=1, nonce=NONCE),
        "epoch": Token(epoch=7, nonce=NONCE),
        "nonce": Token(epoch=1, nonce=OTHER),
        "takes": Token(epoch=2, nonce=OTHER),
    }
    calls = [CallChange(name=name, new=True, set=new_call(head, name)) for name in step.new]
    calls += [CallChange(name=name, set=values) for name, values in step.changed.items() if values and name in known]

    def once() -> Any:
        with transaction.atomic():
            return append(
                stream=task,
                events=step.events,
                actor="worker:w",
                token=tokens[step.token],
                expected=None if step.off is None else head.head_seq + step.off,
                task=step.task,
                calls=calls,
                admission=step.admission,
                after_end=step.after_end,
                takes=step.token == "takes",
            )

    try:
        done = once()
        return ("done", done.first_seq, done.head_seq)
    except Stale as stale:
        return ("stale", stale.refusal, stale.head_seq, stale.task_status, stale.held_epoch)
    except IntegrityError:
        return ("refused by the database", *sorted(_broken(once)))


def _broken(once: Callable[[], Any]) -> set[str]:
    """All constraints that one append breaks: of several, each way of writing meets another one first."""
    found: set[str] = set()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        while True:
            try:
                once()
            except IntegrityError as refused:
                diag = refused.__cause__.diag  # type: ignore[union-attr]
                assert diag.constraint_name not in found
                found.add(diag.constraint_name)
                table, name = Identifier(diag.table_name), Identifier(diag.constraint_name)
                cursor.execute(SQL("ALTER TABLE {} DROP CONSTRAINT IF EXISTS {}").format(table, name))
                cursor.execute(SQL("DROP INDEX IF EXISTS {}").format(name))  # a unique index is no constraint
            else:
                break
        transaction.set_rollback(True)
    return found


def _plain(row: Model) -> dict[str, Any]:
    """The row as values, without what counts up by itself and without digests, which cover the time."""
    free = {"created_at", "head_digest", "digest"} | ({"id"} if isinstance(row, (Event, Call, Blob)) else set())
    fields = [field.attname for field in type(row)._meta.concrete_fields if field.attname not in free]
    return {name: getattr(row, name) for name in fields} | {"row": type(row).__name__}


def _chain_holds(stream: UUID, head: bytes) -> bool:
    digest = bytes(32)
    for row in Event.objects.filter(stream=stream).order_by("seq"):
        digest = twin.chain(digest, twin.body_text(row), micros(row.at))
        if bytes(row.digest) != digest:
            return False
    return digest == head


def _same(one: Any, other: Any) -> bool:
    """Equal, but for moments that the two runs read a little apart."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, memoryview | bytes):
        return bytes(one) == bytes(other)
    moments = [_moment(one), _moment(other)]
    if moments[0] and moments[1]:
        return abs(moments[0] - moments[1]) < timedelta(seconds=30)
    return type(one) is type(other) and one == other


def _moment(value: Any) -> datetime | None:
    if isinstance(value, datetime):
        return value
    if isinstance(value, str) and len(value) > 20 and value[4] == value[7] == "-" and "T" in value:
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            return None
    return None
