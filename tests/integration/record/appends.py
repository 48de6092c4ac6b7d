"""Appends of every kind, drawn at random: what the statement and its ORM twin are compared on."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from hypothesis import strategies as st

from tasks_app.models import Task
from tasks_app.record.append import Admission, Seq
from tasks_app.record.events import After, CallAttempted, CallInDoubt, CallOutcome, CheckpointAdvanced, TaskPaused
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
    token=st.sampled_from(["none", "held", "held", "held", "epoch", "nonce", "takes"]),
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


def new_call(task: Task, name: str) -> dict[str, Any]:
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
