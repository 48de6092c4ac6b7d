"""What a fenced-off worker holds: its answers become late receipts, the rest is kept apart and shown."""

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction

from core.clock import database_now
from core.hints import after_commit, live_hint
from tasks_app.models import Call, CallState, LateWrite, Status, Task
from tasks_app.models import Event as EventRow
from tasks_app.record.append import Appended, CallChange, Seq, Token, append
from tasks_app.record.events import After, CallLateReceipt, CallOutcome, Event
from tasks_app.record.stored import event_prepare
from tasks_app.registry import tool_find
from tasks_app.status import HOLDS_BUSINESS_KEY, TERMINAL
from tasks_app.task_lock import tasks_locked

CLOSABLE = {CallState.ATTEMPTED, CallState.UNKNOWN, CallState.IN_DOUBT}


def late_keep(*, stream: UUID, events: Sequence[Event], actor: str, token: Token) -> None:
    """Keep what ``token``'s worker could not append any more (L05): refused, shown, never lost."""
    with transaction.atomic():
        task = tasks_locked().filter(pk=stream).first()
        if task is None:
            return
        now = database_now()
        for event in events:
            LateWrite.objects.create(
                stream=stream,
                at=now,
                held_epoch=task.lease_epoch,
                presented_epoch=token.epoch,
                presented_nonce=token.nonce,
                actor=actor,
                kind=event.KIND,
                data=event_prepare(event).whole,
            )
        workspace, seq = task.workspace_id, task.head_seq
        after_commit(lambda: live_hint(stream=stream, workspace=workspace, seq=seq))
    for event in events:
        if isinstance(event, CallOutcome) and event.sent and event.outcome in {"ok", "refused"}:
            late_receipt_append(stream=stream, outcome=event, actor=actor, token=token)


def late_receipt_append(*, stream: UUID, outcome: CallOutcome, actor: str, token: Token) -> Appended | None:
    """Append an answer that arrived after its worker had lost the task: for its own attempt only, once an attempt.

    It may close a doubt, nothing else. Returns None where the attempt was not this token's or is answered.
    """
    with transaction.atomic():
        task = tasks_locked().get(pk=stream)
        call = Call.objects.filter(task=task, name=outcome.name).first()
        if call is None or not _own_and_unanswered(stream, outcome, token):
            return None
        state = _closes(call, outcome)
        event = CallLateReceipt(
            name=outcome.name,
            attempt=outcome.attempt,
            held_epoch=token.epoch,
            outcome=outcome.outcome,
            result=outcome.result,
            error=outcome.error,
            reference=outcome.reference,
            closes_doubt=state is not None,
            settles=(state is not None and state != CallState.OK) or None,
        )
        return append(
            stream=stream,
            events=[event],
            actor=actor,
            task=_task_change(task, call, state),
            calls=_call_change(call, outcome, state),
            after_end=task.status in TERMINAL,
        )


def _own_and_unanswered(stream: UUID, outcome: CallOutcome, token: Token) -> bool:
    about = EventRow.objects.filter(stream=stream, data__name=outcome.name, data__attempt=outcome.attempt)
    own = about.filter(kind="call.attempted", epoch=token.epoch).exists()
    return own and not about.filter(kind__in=["call.late_receipt", "call.outcome"]).exists()


def _closes(call: Call, outcome: CallOutcome) -> CallState | None:
    if call.state not in CLOSABLE:
        return None
    if outcome.outcome == "ok":
        contract = tool_find(call.tool, call.contract_version)
        # Nobody reads it back: answered, and never shown as verified (S5).
        return CallState.ANSWERED if contract is not None and contract.verify is None else CallState.OK
    return CallState.REFUSED if call.attempts == 1 else None


def _call_change(call: Call, outcome: CallOutcome, state: CallState | None) -> list[CallChange]:
    if state is None:
        return []
    values = {
        "state": state,
        "answer_seq": Seq(1),
        "reference": outcome.reference or call.reference,
        "next_look_at": None,
        "look_ups": 0,
        "holds_business_key": call.business_key is not None and state in HOLDS_BUSINESS_KEY,
    }
    if state != CallState.OK:
        values["settled_seq"] = Seq(1)
    return [CallChange(name=call.name, set=values)]


def _task_change(task: Task, call: Call, state: CallState | None) -> dict[str, object]:
    if state is None or task.status in TERMINAL or task.lease_nonce is not None:
        return {}
    others = Call.objects.filter(task=task, state=CallState.IN_DOUBT).exclude(pk=call.pk).exists()
    back = {"status": Status.QUEUED, "wait": None} if task.status == Status.IN_DOUBT and not others else {}
    return {"wake_at": After(0), **back}
