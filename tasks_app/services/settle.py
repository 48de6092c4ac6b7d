"""Calls in doubt: a person says what happened, with evidence. Each answer is evidence in the record."""

from datetime import datetime, timedelta
from uuid import UUID

from core.clock import database_now
from core.errors import Conflict, NotFound
from core.models import Workspace
from tasks_app.models import Call, Event
from tasks_app.record.append import CallChange, Seq
from tasks_app.record.events import After, CallSettled
from tasks_app.registry import tool_find, tool_newest
from tasks_app.services import intake
from tasks_app.services.again import Again, again_prepare, again_record
from tasks_app.services.command import Command, command
from tasks_app.status import HOLDS_BUSINESS_KEY, CallState, Status

ANSWERS = {
    "happened": CallState.HAPPENED,
    "not_happened": CallState.NOT_HAPPENED,
    "unknown": CallState.UNKNOWN_SETTLED,
    "run_again": CallState.WITHDRAWN,  # its name resolves to the new call
}
KNOWN_ABSENT = {"not_happened", "run_again"}


class SettledAlready(Conflict):
    """The call has been settled; the first answer stands."""

    code = "settled-already"


class NotInDoubt(Conflict):
    """The call is not in doubt; nothing was changed."""

    code = "not-in-doubt"


class TooEarly(Conflict):
    """A late arrival is still possible, so nobody can know yet that it did not happen; nothing was changed."""

    code = "too-early"


def call_settle(
    *,
    workspace: Workspace,
    task: UUID,
    name: str,
    actor: str,
    answer: str,
    evidence: str,
    reference: str = "",
) -> Call:
    """Settle a call in doubt: ``happened`` (with its outside reference), ``not_happened``, or ``unknown`` (go on).

    ``run_again`` is a new call with a new key in its place, which needs an approval of its own (``again``). The same
    answer by the same person again is the same answer. *Not happened* is refused before the last
    attempt's deadline + the contract's lag, by the database's clock.
    Raises NotFound, InvalidInput, NotInDoubt, SettledAlready (naming who said what), TooEarly (``not_before``).
    """
    if answer not in ANSWERS:
        raise intake.field_error("answer", f"must be one of {', '.join(ANSWERS)}.")
    said = CallSettled(
        name=name,
        answer=answer,
        by=actor,
        evidence=intake.text_checked("evidence", evidence),
        reference=intake.text_checked("reference", reference, limit=300, required=False) or None,
    )
    again = again_prepare(workspace=workspace, task=task, name=name) if answer == "run_again" else None
    with command(workspace=workspace, task=task, actor=actor) as here:
        call = Call.objects.filter(task=here.task, name=name).first()
        if call is None:
            raise NotFound
        if call.state == CallState.IN_DOUBT:
            _settle(here, call, said, again)
        else:
            _same_answer(here, call, said)
    return Call.objects.get(task_id=task, name=name)


def _settle(here: Command, call: Call, said: CallSettled, again: Again | None) -> None:
    if said.answer in KNOWN_ABSENT:
        _late_enough(call)
    state = ANSWERS[said.answer]
    change = {
        "state": state,
        "holds_business_key": state in HOLDS_BUSINESS_KEY and call.business_key is not None,
        "settled_seq": Seq(1),
        "answer_seq": Seq(1),
    } | ({"reference": said.reference} if said.reference else {})
    if again is not None:
        change |= {"replaced_by": again.name}
    others = Call.objects.filter(task=here.task, state=CallState.IN_DOUBT).exclude(pk=call.pk).exists()
    goes_on = not others and here.task.lease_nonce is None
    # A task that is paused or cancelling keeps its status; a worker looks at it all the same, to end what can end.
    queued = {"status": Status.QUEUED, "wait": None} if here.task.status == Status.IN_DOUBT and not others else {}
    due = {"wake_at": After(0)} if goes_on else {}
    here.record(
        said,
        task={"losses": 0, "loss_place": ""} | queued | due,
        calls=[CallChange(name=call.name, set=change)],
        due=goes_on,
    )
    if again is not None:
        again_record(here, again)


def _late_enough(call: Call) -> None:
    moment = not_before(call)
    if moment is not None and database_now() < moment:
        raise TooEarly(
            f"Until {moment:%H:%M:%S} UTC a request that was accepted may still take effect, so nobody can know yet"
            " that it did not happen; nothing was changed. Look again then.",
            not_before=moment.isoformat(),
        )


def not_before(call: Call) -> datetime | None:
    """Return from when on "it did not happen" can be known: the latest deadline + the contract's lag."""
    if call.deadline is None:
        return None
    contract = tool_find(call.tool, call.contract_version) or tool_newest(call.tool)
    known = [call.deadline + timedelta(seconds=contract.lag)] if contract else [call.deadline]
    doubt = Event.objects.filter(stream=call.task_id, kind="call.in_doubt", data__name=call.name).last()
    if doubt is not None and doubt.data.get("not_before"):
        known.append(datetime.fromisoformat(doubt.data["not_before"]))
    return max(known)


def _same_answer(here: Command, call: Call, said: CallSettled) -> None:
    """Let the same answer by the same person pass; refuse any other, naming what stands."""
    stands = Event.objects.filter(stream=here.task.id, seq=call.settled_seq or 0, kind="call.settled").first()
    if stands is None:
        raise NotInDoubt(
            f"The call {call.name!r} is {call.state}, not in doubt; nothing was changed.", state=call.state
        )
    if stands.actor == here.actor and stands.data["answer"] == said.answer:
        return
    raise SettledAlready(
        f"{stands.actor} has already recorded {stands.data['answer']!r} for {call.name!r}; that answer stands.",
        by=stands.actor,
        answer=stands.data["answer"],
        at=stands.at.isoformat(),
    )
