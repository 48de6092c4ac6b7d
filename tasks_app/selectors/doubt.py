"""All that is known of a call in doubt: for the person who must find out what happened."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.clock import database_now
from core.errors import NotFound
from tasks_app.call_arguments import arguments_shown
from tasks_app.models import Call, Event, Task
from tasks_app.registry import tool_find, tool_newest
from tasks_app.runtime.recorded import data_whole, event_data
from tasks_app.services.settle import not_before
from tasks_app.status import CallState

ATTEMPTS_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt: when, by which worker, until when it could act, and what came back."""

    event: Event
    worker: str
    send_by: datetime | None
    deadline: datetime | None
    outcome: Event | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """A call and what is known. ``not_before`` is set while a late arrival is still possible.

    ``seq``: the last event of the call; of each kind only the last are shown.
    """

    call: Call
    seq: int
    arguments: dict[str, Any]
    attempts: list[Attempt]
    look_ups: list[Event]
    receipts: list[Event]
    doubt: Event | None
    settled: Event | None
    how_to_check: str
    can_look_up: bool
    not_before: datetime | None

    @property
    def waits(self) -> bool:
        """Whether a person must still answer."""
        return self.call.state == CallState.IN_DOUBT


def doubt_of(*, task: Task, name: str) -> Doubt:
    """Return what is known of a call. Raises NotFound."""
    call = Call.objects.filter(task=task, name=name).first()
    if call is None:
        raise NotFound
    events = list(Event.objects.filter(stream=task.pk, kind__startswith="call.", data__name=name).order_by("seq"))
    of = {kind: [event for event in events if event.kind == kind] for kind in {event.kind for event in events}}
    doubt = of.get("call.in_doubt", [None])[-1]
    contract = tool_find(call.tool, call.contract_version) or tool_newest(call.tool)
    moment = not_before(call)
    return Doubt(
        call=call,
        seq=events[-1].seq if events else 0,
        arguments=arguments_shown(
            tool=call.tool,
            version=call.contract_version,
            arguments=event_data(task.pk, call.intended_seq)["arguments"],
        ),
        attempts=_attempts(of)[-ATTEMPTS_SHOWN:],
        look_ups=of.get("call.observed", [])[-ATTEMPTS_SHOWN:],
        receipts=of.get("call.late_receipt", [])[-ATTEMPTS_SHOWN:],
        doubt=doubt,
        settled=of.get("call.settled", [None])[-1],
        how_to_check=_how_to_check(doubt) or (contract.how_to_check if contract else ""),
        can_look_up=bool(contract and contract.find),
        not_before=moment if moment and moment > database_now() else None,
    )


def _how_to_check(doubt: Event | None) -> str:
    return str(data_whole(doubt.stream, doubt.data).get("check", "")) if doubt else ""


def _attempts(of: dict[str, list[Event]]) -> list[Attempt]:
    outcomes = {event.data.get("attempt"): event for event in of.get("call.outcome", [])}
    return [
        Attempt(
            event=event,
            worker=event.actor.partition(":")[2],
            send_by=_moment(event.data.get("send_by")),
            deadline=_moment(event.data.get("deadline")),
            outcome=outcomes.get(event.data.get("attempt")),
        )
        for event in of.get("call.attempted", [])
    ]


def _moment(value: Any) -> datetime | None:
    return datetime.fromisoformat(value) if isinstance(value, str) else None
