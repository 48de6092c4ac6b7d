"""From events to the state of a task and its calls. Pure: no Django.

The append writes events and the rows that follow from them in one statement; this module says the same by replaying.
Not derived, since no event says it: when something is due or runs out (``wake_at``, ``lease_until``,
``next_look_at``), and the seconds that were spent.
"""

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tasks_app.record.reducing_calls import CALLS, Calls, Fact
from tasks_app.status import EXTERNAL_VERSION, OPEN, CallState, Status

Json = dict[str, Any]
KEEP_STATUS = frozenset({Status.PAUSED, Status.CANCELLING})  # what a claim, a loss or a release leaves as it is
IN_FLIGHT = frozenset({CallState.ATTEMPTED, CallState.UNKNOWN})
SUMMARY = 2000  # characters of a claim's summary that the row keeps


def _columns() -> Json:
    return {
        "status": Status.QUEUED,
        "wait": None,
        "open_wait": None,
        "signals": [],
        "child_tasks": {},
        "tokens": 0,
        "step": 0,
        "bad_decisions": 0,
        "checkpoint_seq": 0,
        "checkpoint_step": 0,
        "state_seq": 0,
        "losses": 0,
        "loss_place": "",
        "one_by_one": False,
        "claim": None,
        "ended_at": None,
        "lease_holder": "",
        "lease_epoch": 0,
        "lease_nonce": None,
    }


@dataclass(slots=True)
class State:
    """A task and its calls as the events say. ``parking``: a wait of the runtime's that the next release begins."""

    task: Json = field(default_factory=_columns)
    calls: Calls = field(default_factory=dict)
    parking: Json | None = None

    @property
    def status(self) -> Status:
        """The task's status."""
        return Status(self.task["status"])

    def open_names(self) -> list[str]:
        """The calls that are not settled."""
        return sorted(name for name, call in self.calls.items() if call["state"] in OPEN)

    def any_in(self, states: Iterable[CallState]) -> int:
        """How many calls are in one of these states."""
        return sum(call["state"] in states for call in self.calls.values())


def reduce(state: State, fact: Fact) -> State:
    """Return the state after one more event."""
    after = deepcopy(state)
    apply(after, fact)
    return after


def state_at(facts: Iterable[Fact]) -> State:
    """Return the state after these events, from the first on."""
    state = State()
    for fact in facts:
        apply(state, fact)
    return state


def apply(state: State, fact: Fact) -> None:
    """Change ``state`` by one event, in place (for long records)."""
    if fact.kind in CALLS:
        CALLS[fact.kind](state.calls, fact)
    if fact.kind in _TASK:
        _TASK[fact.kind](state, fact)


def _created(state: State, fact: Fact) -> None:
    for name in ("agent", "agent_version", "code_digest", "title", "intent", "done_when", "labels", "budget"):
        state.task[name] = fact.data[name]


def _claimed(state: State, fact: Fact) -> None:
    task = state.task
    epoch = task["lease_epoch"] + 1 if fact.epoch is None else fact.epoch
    task |= {"lease_holder": fact.data["worker"], "lease_epoch": epoch, "lease_nonce": fact.data["nonce"]}
    task["wait"] = None
    if state.status not in KEEP_STATUS:
        task["status"] = Status.RUNNING


def _let_go(state: State) -> None:
    state.task |= {"lease_holder": "", "lease_nonce": None}


def _released(state: State, fact: Fact) -> None:
    _let_go(state)
    parking, state.parking = state.parking, None
    if fact.data["why"] == "finished":
        return
    if fact.data["why"] != "parked":
        if state.status not in KEEP_STATUS:
            state.task["status"] = Status.QUEUED
        return
    doubt = parking is None and state.any_in({CallState.IN_DOUBT})
    own = state.task["open_wait"] if state.status not in KEEP_STATUS else None
    state.task["wait"] = {"kind": "approval", "on": state.open_names()} if doubt else parking or own
    if state.status not in KEEP_STATUS:
        state.task["status"] = Status.IN_DOUBT if doubt else Status.WAITING


def _lost(state: State, fact: Fact) -> None:
    if state.task["lease_nonce"] is None:  # said of a task that nobody held: only its open calls are judged again
        return
    _let_go(state)
    state.parking = None
    state.task |= {"losses": fact.data["losses"], "loss_place": fact.data["place"]}
    state.task["one_by_one"] = state.task["one_by_one"] or state.any_in(IN_FLIGHT) > 1
    if state.status not in KEEP_STATUS:
        state.task["status"] = Status.QUEUED


def _wait_started(state: State, fact: Fact) -> None:
    wait: Json = {name: fact.data[name] for name in ("kind", "on", "until") if name in fact.data}
    if fact.data.get("name") is not None:
        state.task["open_wait"] = {**wait, "name": fact.data["name"], "step": fact.data["step"]}
    elif state.task["lease_nonce"] is not None:
        state.parking = wait
    else:  # put off before it was claimed: over a limit, or no worker carries its version
        state.task["wait"] = wait
        if state.status not in KEEP_STATUS:
            state.task["status"] = Status.WAITING


def _wait_ended(state: State, fact: Fact) -> None:
    state.task["wait"] = None
    if fact.data.get("name") is not None:
        state.task["open_wait"] = None
    taken = fact.data.get("signal_seq")
    state.task["signals"] = [signal for signal in state.task["signals"] if signal["seq"] != taken]


def _signal(state: State, fact: Fact) -> None:
    state.task["signals"] = [*state.task["signals"], {"seq": fact.seq, "name": fact.data["name"]}]


def _spawned(state: State, fact: Fact) -> None:
    state.task["child_tasks"][fact.data["name"]] = {"child": fact.data["child"], "settled": False}


def _child_settled(state: State, fact: Fact) -> None:
    state.task["child_tasks"][fact.data["name"]]["settled"] = True


def _asked(state: State, fact: Fact) -> None:
    state.task["tokens"] += fact.data["reserved_tokens"]


def _decided(state: State, fact: Fact) -> None:
    task = state.task
    task["step"] = fact.data["step"]
    task["bad_decisions"] = task["bad_decisions"] + 1 if fact.data["does"] == "refused" else 0
    if "full" in (fact.data.get("state") or {}):
        task["state_seq"] = fact.seq
    usage: Mapping[str, int] | None = fact.data.get("usage")
    if usage:
        task["tokens"] = max(task["tokens"] - usage["reserved"] + usage["tokens"], 0)


def _checkpoint(state: State, fact: Fact) -> None:
    state.task |= {"checkpoint_seq": fact.seq, "checkpoint_step": fact.data["step"]}
    state.task |= {"losses": 0, "loss_place": "", "one_by_one": False}


def _claims(state: State, fact: Fact) -> None:
    summary = fact.data["summary"][:SUMMARY]
    state.task["claim"] = {"summary": summary, "claims": fact.data["claims"], "step": state.task["step"]}


def _settled(state: State, fact: Fact) -> None:
    state.task |= {"losses": 0, "loss_place": ""}
    _doubt_over(state)


def _late_receipt(state: State, fact: Fact) -> None:
    if fact.data["closes_doubt"] and state.task["lease_nonce"] is None:
        _doubt_over(state)


def _observed(state: State, fact: Fact) -> None:
    if state.task["lease_nonce"] is None and fact.data.get("move") in {"adopt", "refuse"}:  # a person had it looked up
        _doubt_over(state)


def _doubt_over(state: State) -> None:
    if state.status == Status.IN_DOUBT and not state.any_in({CallState.IN_DOUBT}):
        state.task |= {"status": Status.QUEUED, "wait": None}


def _answered(state: State, fact: Fact) -> None:
    if state.status != Status.WAITING:
        return
    if fact.data.get("decision") == "approved" and state.task["agent_version"] == EXTERNAL_VERSION:
        state.task["wait"] = {"kind": "outside", "on": [fact.data["name"]]}  # its agent acts next, no worker
    else:
        state.task |= {"status": Status.QUEUED, "wait": None}


def _paused(state: State, fact: Fact) -> None:
    state.task |= {"status": Status.PAUSED, "wait": None}


def _resumed(state: State, fact: Fact) -> None:
    leased = state.task["lease_nonce"] is not None
    onward = Status(fact.data["to"]) if fact.data.get("to") else Status.QUEUED
    state.task |= {"status": Status.RUNNING if leased else onward, "wait": None}
    if fact.data["after"] == Status.QUARANTINED:
        state.task |= {"losses": 0, "loss_place": ""}


def _moved(state: State, fact: Fact) -> None:
    state.task["agent_version"] = fact.data["to_version"]


def _cancelling(state: State, fact: Fact) -> None:
    state.task |= {"status": Status.CANCELLING, "wait": None}


def _quarantined(state: State, fact: Fact) -> None:
    state.task["status"] = Status.QUARANTINED


def _unverified(state: State, fact: Fact) -> None:
    state.task |= {"status": Status.UNVERIFIED, "wait": None}


def _ends_as(status: Status) -> Callable[[State, Fact], None]:
    def end(state: State, fact: Fact) -> None:
        _let_go(state)
        ended: datetime = fact.at
        state.task |= {"status": status, "ended_at": ended, "wait": None, "open_wait": None, "claim": None}

    return end


_TASK: dict[str, Callable[[State, Fact], None]] = {
    "task.created": _created,
    "slice.claimed": _claimed,
    "slice.released": _released,
    "slice.lost": _lost,
    "wait.started": _wait_started,
    "wait.ended": _wait_ended,
    "signal.received": _signal,
    "child.spawned": _spawned,
    "child.settled": _child_settled,
    "context.selected": _asked,
    "step.decided": _decided,
    "checkpoint.advanced": _checkpoint,
    "task.claimed_complete": _claims,
    "call.settled": _settled,
    "call.observed": _observed,
    "call.late_receipt": _late_receipt,
    **dict.fromkeys(
        ["approval.decided", "approval.expired", "approval.lapsed", "approval.voided", "approval.revoked"], _answered
    ),
    "task.paused": _paused,
    "task.resumed": _resumed,
    "task.moved": _moved,
    "task.cancel_requested": _cancelling,
    "task.quarantined": _quarantined,
    "task.unverified": _unverified,
    "task.completed": _ends_as(Status.COMPLETED),
    "task.failed": _ends_as(Status.FAILED),
    "task.cancelled": _ends_as(Status.CANCELLED),
}
