"""``incident.remediate``: from an incident report to a service that is verifiably well again.

An agent is a function from the record so far to the next decision. It is called again after each step, by whichever
worker holds the task, with what the record says: it keeps nothing in memory and starts nothing itself. A call's
*name* stands for its effect, once in the task's whole life, so that "has the ticket been opened?" is a look at
``view.calls``, whoever opened it and however often its worker died meanwhile.
"""

from chaos_app.incidents import words
from chaos_app.incidents.config import setting_of
from chaos_app.incidents.incident import Incident
from chaos_app.incidents.model import policy_here
from tasks_app.criteria import criterion
from tasks_app.decisions import Decision, call, complete, fail
from tasks_app.registry import agent
from tasks_app.status import CallState
from tasks_app.view import CallView, TaskView

# It had no effect, and for no reason that speaks against trying again: a person sees the new proposal as well.
AGAIN = {CallState.NOT_HAPPENED, CallState.LAPSED, CallState.VOIDED}
NEVER_SENT = {"not-sent", "unreachable"}
MOST_TRIES = 5


@agent(
    "incident.remediate",
    version=1,
    intent=Incident,
    budget={"steps": 60, "tokens": 200_000},
    losses=5,
    done_when=[
        criterion("ticket.exists", service="{intent.service}", incident="{intent.id}"),
        criterion("config.within", service="{intent.service}", tolerances="{intent.tolerances}"),
        criterion("mail.sent", to="{intent.on_call}", incident="{intent.id}"),
    ],
)
def remediate(view: TaskView) -> Decision:
    """Open a ticket, propose a configuration change, apply it, pay what is owed, tell the person on call."""
    incident = Incident.model_validate(view.intent)
    if view.refused:
        return fail(f"The last decision could not be carried out: {view.refused[0]['reason']}")
    if "ticket" not in view.calls:
        return call("ticket.open", name="ticket", **words.ticket(incident))

    # Where the configuration has moved since it was read, the change was refused: read again, ask again.
    config, change = _turn(view, "config", of="change"), _turn(view, "change")
    if config not in view.calls:
        return call("config.read", name=config, service=incident.service)
    if change not in view.calls:
        return _proposed(view, incident, config=config, change=change)
    if not view.calls[change].ok:
        return fail(f"The configuration was not changed: {_reason(view.calls[change])}")

    credit = _turn(view, "credit")
    if incident.vendor and incident.credit_cents and credit not in view.calls:
        return call("vendor.credit", name=credit, note=words.credit_reason(incident), **words.credit(incident))

    done = [view.calls["ticket"], view.calls[change], *([view.calls[credit]] if credit in view.calls else [])]
    if "mail" not in view.calls:
        return call("mail.notify", name="mail", **words.mail(incident, done))
    changed = view.calls[change].arguments
    claim = criterion("config.is", **{name: changed[name] for name in ("service", "setting", "value")})
    return complete(summary=words.summary(incident, done), claims=[claim])


def _proposed(view: TaskView, incident: Incident, *, config: str, change: str) -> Decision:
    read = view.calls[config]
    if not read.ok:
        return fail(f"The configuration could not be read: {_reason(read)}")
    proposal = policy_here().propose(view, incident, read.answer["values"])
    was = setting_of(read.answer["values"], proposal.setting)
    return call(
        "config.change",
        name=change,
        note=proposal.reason,
        service=incident.service,
        setting=proposal.setting,
        was=was,
        value=type(was)(proposal.value),
        based_on=read.answer["version"],
    )


def _turn(view: TaskView, name: str, *, of: str = "") -> str:
    """Return the name that is due: ``change``, or ``change-2`` where the first one had no effect and may be tried anew.

    ``of``: the call whose tries are counted, where it is another one.
    """
    tries = 1
    while tries < MOST_TRIES and _may_be_tried_anew(view.calls.get(_name(of or name, tries))):
        tries += 1
    return _name(name, tries)


def _name(name: str, tries: int) -> str:
    return name if tries == 1 else f"{name}-{tries}"


def _may_be_tried_anew(tried: CallView | None) -> bool:
    if tried is None:
        return False
    refusal = tried.refusal or {}
    return tried.state in AGAIN or bool(refusal.get("moved")) or refusal.get("code") in NEVER_SENT


def _reason(tried: CallView) -> str:
    return str((tried.refusal or {}).get("reason", tried.state.value.replace("_", " ")))
