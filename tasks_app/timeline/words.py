"""One plain sentence for each kind of event. Pure: no Django; the tests hold it against the vocabulary."""

from collections.abc import Callable, Mapping
from typing import Any

from tasks_app.external import FINISHED
from tasks_app.timeline.approval_words import APPROVAL_WORDS
from tasks_app.timeline.call_words import CALL_WORDS
from tasks_app.timeline.parts import Line, Part, line, name, names, quote, reason_of, who
from tasks_app.timeline.sandbox_words import SANDBOX_WORDS

Data = Mapping[str, Any]
Words = Callable[[Data, Part], Line]

_AFTER = {"paused": "after its pause", "quarantined": "after it was stopped", "unverified": "to be checked again"}
_RELEASED = {
    "finished": "its work is finished",
    "parked": "nothing to do until the wait is over",
    "handed over": "handed over calmly",
    "deadline": "its time was over",
    "bound": "its share of time is used, the next one goes on",
    "fenced": "another worker holds the task",
}
_WAITS = {
    "approval": "an approval of",
    "timer": "a time",
    "signal": "the signal",
    "child": "the child task",
    "limit": "a free place:",
    "worker_version": "a worker with its version:",
    "look_up": "the time to go on with",
    "stop": "a stop to be lifted:",
    "work": "outside work:",
    "outside": "its agent, outside:",
}
_DOES = {
    "call": "calls",
    "state": "keeps new state",
    "wait": "waits",
    "spawn": "starts a child task",
    "complete": "says that the work is done",
    "fail": "gives up",
}


def words(kind: str, data: Data, actor: str) -> Line:
    """Return the sentence for an event; a kind of a newer version is shown under its own name."""
    told = WORDS.get(kind)
    return told(data, who(actor)) if told else line(kind.replace(".", ": ").replace("_", " "))


def _created(data: Data, by: Part) -> Line:
    copied = data.get("copied_from")
    of: tuple[Part | str, ...] = ()
    if isinstance(copied, Mapping):
        of = (" as a copy of ", name(copied.get("task")), f" from step {copied.get('step')}")
    return line(by, " started the task with ", name(data.get("agent")), f" version {data.get('agent_version')}", *of)


def _resumed(data: Data, by: Part) -> Line:
    if data.get("to"):
        return line(by, f" released the task, which is {data['to']} as before", *quote(data.get("reason")))
    after = _AFTER.get(str(data.get("after")), "")
    return line(by, f" let the task go on {after}".rstrip(), *quote(data.get("reason")))


def _moved(data: Data, by: Part) -> Line:
    versions = f" moved the task from version {data.get('from_version')} of its agent to {data.get('to_version')}"
    return line(by, versions, *quote(data.get("reason")))


def _cancel_requested(data: Data, by: Part) -> Line:
    return line(by, " asked to cancel; nothing further starts", *quote(data.get("reason")), glyph="cancelling")


def _cancelled(data: Data, by: Part) -> Line:
    return line("Cancelled", *quote(data.get("reason")), glyph="cancelled")


def _failed(data: Data, by: Part) -> Line:
    causes = {"agent": "Failed: the agent gave up", "budget": "Failed: a budget is used up"}
    cause = causes.get(str(data.get("cause")), "Failed: three decisions in a row could not be carried out")
    return line(cause, *quote(data.get("reason")), tone="bad", glyph="failed")


def _quarantined(data: Data, by: Part) -> Line:
    at = (f"Stopped after {data.get('losses')} lost workers at ", name(data.get("place")), "; a person releases it")
    return line(*at, tone="bad", glyph="stopped")


def _claimed_complete(data: Data, by: Part) -> Line:
    return line("The agent says that it is done", *quote(data.get("summary")), "; nothing is believed before the check")


def _evidence(data: Data, by: Part) -> Line:
    what = name(data.get("criterion"))
    if data.get("holds"):
        how = "" if data.get("how") == "checked" else f" ({data.get('how')})"
        if data.get("how") == "answered, not checked":
            return line("Taken as holding: ", what, how, glyph="done")
        return line("Holds: ", what, how, tone="ok", glyph="done")
    seen = (*quote(data.get("expected"), before=", expected "), *quote(data.get("seen"), before=", seen "))
    return line("Does not hold: ", what, *seen, tone="bad", glyph="failed")


def _completed(data: Data, by: Part) -> Line:
    many = str(data.get("criteria"))
    held = {"0": "nothing had to hold", "1": "its one criterion holds"}.get(many, f"all {many} criteria hold")
    return line(f"Completed: {held}", tone="ok", glyph="done")


def _missing(said: str) -> Words:
    def told(data: Data, by: Part) -> Line:
        missing = data.get("missing")
        what = missing if isinstance(missing, list) else [missing]
        criteria = [item.get("criterion") if isinstance(item, Mapping) else item for item in what]
        return line(said, names(criteria), tone="bad", glyph="unverified")

    return told


def _claimed(data: Data, by: Part) -> Line:
    return line(name(data.get("worker")), " took the task")


def _released(data: Data, by: Part) -> Line:
    why = str(data.get("why"))
    return line("Work session of ", name(data.get("worker")), f" ended: {_RELEASED.get(why, why)}")


def _lost(data: Data, by: Part) -> Line:
    exit_status = (", ", name(data["exit_status"])) if data.get("exit_status") else ()
    count = f"; loss {data.get('losses')} at this place" if data.get("counted") else "; not counted"
    lost = (name(data.get("worker")), f" lost its lease (no. {data.get('lost_epoch')}): {data.get('seen')}")
    return line(*lost, *exit_status, ", at ", name(data.get("place")), count, tone="person", glyph="unknown")


def _selected(data: Data, by: Part) -> Line:
    most = data.get("reserved_tokens")
    return line("Asks the model ", name(data.get("model")), f"; at most {most} tokens are set aside for the answer")


def _decided(data: Data, by: Part) -> Line:
    refused = data.get("refused")
    if isinstance(refused, list) and refused:
        first = quote(reason_of(refused[0]))
        return line("The decision cannot be carried out; the agent is told why", *first, tone="bad", glyph="failed")
    does = str(data.get("does"))
    called = (" ", names(data["names"])) if data.get("names") else ()
    usage = data.get("usage")
    cost = f" ({usage.get('tokens')} tokens)" if isinstance(usage, Mapping) else ""
    return line(f"The agent {_DOES.get(does, does)}", *called, cost, *quote(data.get("note")))


def _checkpoint(data: Data, by: Part) -> Line:
    return line(f"Checkpoint: everything up to step {data.get('step')} is settled")


def _wait_started(data: Data, by: Part) -> Line:
    kind = str(data.get("kind"))
    on = (" ", names(data["on"])) if data.get("on") else ()
    until = f" until {str(data['until'])[11:19]} UTC" if data.get("until") else ""
    return line(f"Waits for {_WAITS.get(kind, kind)}", *on, until, glyph="timer")


def _wait_ended(data: Data, by: Part) -> Line:
    what = (" ", name(data["name"])) if data.get("name") else (f" for {_WAITS.get(str(data.get('kind')), '')}",)
    why = {"due": "its time has come", "timeout": "nothing came in time"}.get(str(data.get("why")), data.get("why"))
    return line("The wait", *what, f" is over: {why}" if why else " is over")


def _signal(data: Data, by: Part) -> Line:
    if data.get("name") == FINISHED and isinstance(data.get("payload"), Mapping):
        return _finished(data["payload"], by)
    return line(by, " sent the signal ", name(data.get("name")), *quote(data.get("payload")), glyph="signal")


def _finished(said: Data, by: Part) -> Line:
    """An agent outside has no more to ask; about its calls that says nothing."""
    failed = said.get("outcome") == "failed"
    what = " gives up" if failed else " asks for nothing else in this task"
    return line(by, what, ": it ends once its calls are settled", *quote(said.get("summary")), glyph="signal")


def _spawned(data: Data, by: Part) -> Line:
    return line("Started the child task ", name(data.get("name")), " with ", name(data.get("agent")), glyph="child")


def _child_settled(data: Data, by: Part) -> Line:
    ended = (name(data.get("name")), f" ended: {data.get('status')}")
    return line("The child task ", *ended, *quote(data.get("summary")), glyph="child")


def _changed(noun: str) -> Words:
    def told(data: Data, by: Part) -> Line:
        verb = "removed" if data.get("after_change") is None else "set" if data.get("before") is None else "changed"
        return line(by, f" {verb} {noun}: ", name(data.get("what")), *quote(data.get("reason")))

    return told


def _purged(data: Data, by: Part) -> Line:
    return line(by, " removed the exported record of task ", name(data.get("task")))


def _drain_asked(data: Data, by: Part) -> Line:
    hands = " to hand over what it holds and to end"
    return line(by, " asked the worker ", name(data.get("worker")), hands, *quote(data.get("reason")))


def _drill_launched(data: Data, by: Part) -> Line:
    return line(by, " launched the drills ", name(data.get("suite")), f" with seed {data.get('seed')}")


def _drill_alert_seen(data: Data, by: Part) -> Line:
    return line(by, " has seen what the drills ", name(data.get("suite")), " found, and ended the alert")


def _drill_ended(data: Data, by: Part) -> Line:
    return line(f"The drills {data.get('state')}: {data.get('sentence')}")


WORDS: Mapping[str, Words] = {
    "task.created": _created,
    "task.paused": lambda data, by: line(by, " paused the task", *quote(data.get("reason")), glyph="paused"),
    "task.resumed": _resumed,
    "task.moved": _moved,
    "task.cancel_requested": _cancel_requested,
    "task.cancelled": _cancelled,
    "task.failed": _failed,
    "task.quarantined": _quarantined,
    "task.claimed_complete": _claimed_complete,
    "evidence.observed": _evidence,
    "task.completed": _completed,
    "task.unverified": _missing("Says done, check failed: "),
    "evidence.gone": _missing("Checked again; no longer holds: "),
    "slice.claimed": _claimed,
    "slice.released": _released,
    "slice.lost": _lost,
    "context.selected": _selected,
    "step.decided": _decided,
    "checkpoint.advanced": _checkpoint,
    "wait.started": _wait_started,
    "wait.ended": _wait_ended,
    "signal.received": _signal,
    "child.spawned": _spawned,
    "child.settled": _child_settled,
    "policy.changed": _changed("the approval rule"),
    "grant.changed": _changed("the standing grant"),
    "role.changed": _changed("the rights"),
    "switch.changed": _changed("the stop switch"),
    "credential.changed": _changed("the credential"),
    "schedule.changed": _changed("the schedule"),
    "channel.changed": _changed("the notifications"),
    "worker.drain_asked": _drain_asked,
    "drill.launched": _drill_launched,
    "drill.ended": _drill_ended,
    "drill.alert_seen": _drill_alert_seen,
    "record.purged": _purged,
    **CALL_WORDS,
    **APPROVAL_WORDS,
    **SANDBOX_WORDS,
}
