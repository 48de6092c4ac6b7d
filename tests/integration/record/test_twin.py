"""The append statement and its ORM twin leave the same rows behind, and refuse the same appends."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Model
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from core.models import Workspace
from tasks_app.models import Blob, Call, Event, StopSwitch, Task
from tasks_app.record import append as statement
from tasks_app.record import twin
from tasks_app.record.append import Admission, CallChange, Seq, Stale, Token
from tasks_app.record.bodies import micros
from tasks_app.record.events import (
    After,
    CallAttempted,
    CallInDoubt,
    CallOutcome,
    CheckpointAdvanced,
    SwitchChanged,
    TaskPaused,
)
from tasks_app.status import CallState, Status
from tests.unit.record.values import anything, json_values

NONCE, OTHER = uuid4(), uuid4()
MOMENTS = st.sampled_from([-3600.0, 0.0, 90.5, 7200.0]).map(After)
NUMBERS = st.integers(0, 40)
TEXTS = st.sampled_from(["", "a", "héron ✓", 'it"s'])
NAMES = st.sampled_from(["one", "two", "three"])

EVENTS = st.one_of(
    st.builds(CheckpointAdvanced, step=NUMBERS),
    st.builds(TaskPaused, reason=st.text(max_size=30)),
    st.builds(CallOutcome, name=NAMES, attempt=NUMBERS, outcome=TEXTS, result=json_values | anything),
    st.builds(CallOutcome, name=NAMES, attempt=NUMBERS, outcome=TEXTS, result=st.just({"x": "y" * 9000, "z": 1})),
    st.builds(CallAttempted, name=NAMES, attempt=NUMBERS, key=TEXTS, send_by=MOMENTS, deadline=MOMENTS),
    st.builds(
        CallInDoubt,
        name=NAMES,
        rule=TEXTS,
        reason=TEXTS,
        check=TEXTS,
        not_before=st.none() | MOMENTS,
        difference=st.none() | st.just({"a": 1}),
    ),
)
SEQS = st.integers(1, 3).map(Seq)
TASK = st.fixed_dictionaries(
    {},
    optional={
        "status": st.sampled_from(Status),
        "wait": st.none() | st.just({"kind": "timer", "on": ["a"]}),
        "open_wait": st.none() | st.just({"name": "w"}),
        "signals": st.just([{"seq": 1, "name": "go"}]),
        "child_tasks": st.just({"c": {"settled": False}}),
        "wake_at": st.none() | MOMENTS | st.just("2030-01-01T00:00:00+00:00"),
        "spent": st.just({"seconds": 1.25, "tokens": 10**12}),
        "step": NUMBERS,
        "bad_decisions": NUMBERS,
        "checkpoint_seq": SEQS | NUMBERS,
        "checkpoint_step": NUMBERS,
        "state_seq": SEQS,
        "losses": NUMBERS,
        "loss_place": TEXTS,
        "one_by_one": st.booleans(),
        "claim": st.none() | st.just({"summary": "done", "claims": []}),
        "ended_at": st.none() | MOMENTS,
        "agent_version": NUMBERS,
        "lease_holder": TEXTS,
        "lease_epoch": st.sampled_from([1, 1, 1, 2]),
        "lease_nonce": st.sampled_from([NONCE, NONCE, str(NONCE), OTHER, None]),
        "lease_until": st.sampled_from([After(600.0), After(600.0), After(-5.0), None]),
    },
)
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "state": st.sampled_from(CallState),
        "attempts": NUMBERS,
        "maybe_applied": st.booleans(),
        "look_first": st.booleans(),
        "first_attempt_at": MOMENTS,
        "deadline": MOMENTS | st.just(datetime.fromisoformat("2030-01-01T00:00:00+00:00")),
        "attempt_epoch": st.none() | NUMBERS,
        "look_ups": NUMBERS,
        "next_look_at": st.none() | MOMENTS,
        "reference": TEXTS,
        "handle": TEXTS,
        "attempted_seq": SEQS,
        "answer_seq": SEQS,
        "settled_seq": SEQS,
        "holds_business_key": st.booleans(),
    },
)


@dataclass(frozen=True)
class Step:
    """One append, in terms that fit whatever the record is by then."""

    events: list[Any]
    task: dict[str, Any]
    new: list[str]
    changed: dict[str, dict[str, Any]]
    token: str
    off: int | None
    admission: Admission | None
    after_end: bool
    stop: bool


STEPS = st.builds(
    Step,
    events=st.lists(EVENTS, min_size=1, max_size=4) | st.lists(EVENTS, min_size=9, max_size=12),
    task=TASK,
    new=st.lists(NAMES, max_size=2, unique=True) | st.just([]),
    changed=st.dictionaries(NAMES, CHANGES, max_size=2),
    token=st.sampled_from(["none", "held", "held", "held", "epoch", "nonce"]),
    off=st.sampled_from([None, 0, 0, 0, 1]),
    admission=st.none()
    | st.builds(
        Admission,
        attempts=st.just({"ledger.pay": 1}),
        tool_limits=st.sampled_from([{}, {"ledger.pay": 1}]),
        agent_limit=st.sampled_from([None, 1]),
    ),
    after_end=st.booleans(),
    stop=st.sampled_from([False] * 9 + [True]),
)


@pytest.fixture
def place(db: None) -> tuple[Workspace, User]:
    return Workspace.objects.create(slug="w", name="W"), User.objects.create(username="u")


@settings(
    max_examples=25,
    deadline=None,
    phases=set(Phase) - {Phase.shrink},
    suppress_health_check=[HealthCheck.function_scoped_fixture],
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
    }
    calls = [CallChange(name=name, new=True, set=_new_call(head, name)) for name in step.new]
    calls += [CallChange(name=name, set=values) for name, values in step.changed.items() if values and name in known]
    try:
        with transaction.atomic():
            done = append(
                stream=task,
                events=step.events,
                actor="worker:w",
                token=tokens[step.token],
                expected=None if step.off is None else head.head_seq + step.off,
                task=step.task,
                calls=calls,
                admission=step.admission,
                after_end=step.after_end,
            )
        return ("done", done.first_seq, done.head_seq)
    except Stale as stale:
        return ("stale", stale.refusal, stale.head_seq, stale.task_status, stale.held_epoch)
    except IntegrityError:
        # Not by which constraint: of several that one append breaks, each way of writing meets another one first.
        return ("refused by the database",)


def _new_call(task: Task, name: str) -> dict[str, Any]:
    ordinal = ["one", "two", "three"].index(name)
    return {
        "task_id": str(task.pk),
        "workspace_id": str(task.workspace_id),
        "step": 1,
        "ordinal": ordinal,
        "tool": "ledger.pay",
        "contract_version": 1,
        "effect_class": "keyed",
        "digest": "d",
        "key": f"k{ordinal}",
        "business_key": None if ordinal else "b",
        "holds_business_key": not ordinal,
        "state": CallState.ATTEMPTED if ordinal else CallState.INTENDED,
        "attempts": 0,
        "maybe_applied": False,
        "look_first": False,
        "look_ups": 0,
        "reference": "",
        "resource": "",
        "handle": "",
        "replaced_by": "",
        "intended_seq": Seq(1),
        **({"attempted_seq": Seq(1), "deadline": After(90.0)} if ordinal else {}),
    }


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
