"""The tools of the drills: one of each effect class over the drill's own outside world, with short times.

``mark`` is the act's name outside; it is a tool's business key too, so that the same act is begun once.
"""

import smtplib
from email.message import EmailMessage
from typing import Any

from pydantic import BaseModel

from chaos_app.drills.catalogue import system_of_key
from chaos_app.drills.limits import LAG, LOOKING, PATIENT, TIMEOUT
from chaos_app.drills.walls import walls
from chaos_app.incidents.outside import mail_address, post, web_address
from tasks_app.contracts import Absent, Answer, CallContext, Found, LookUp, Observed, Refused, Unknown
from tasks_app.criteria import Observation, check
from tasks_app.outside import cut_at_deadline, looking_client, seconds_left
from tasks_app.registry import tool

HOW = "Look at the drill's outside world for the mark."
# How a tool asks: not at all, a person; a person in a hurry (seconds); an approval that must be used at once.
ASKING: dict[str, dict[str, Any]] = {
    "": {"asks": False},
    "_asked": {"asks": True},
    "_hurried": {"asks": True, "decide_within": 1.5},
    "_lapsing": {"asks": True, "run_within": 2.0},
}


def read(path: str, **parameters: str) -> dict[str, Any]:
    """Read by a request of its own (no effect)."""
    marks = {"Handrail-Key": parameters["key"]} if "key" in parameters else {}
    with looking_client(base_url=web_address(), timeout=LOOKING) as client:
        answer = client.get(path, params=parameters, headers=marks)
    answer.raise_for_status()
    found: dict[str, Any] = answer.json()
    return found


class Act(BaseModel):
    """One act: ``mark`` names it, ``place`` is the service whose configuration it changes."""

    mark: str
    place: str = ""
    note: str = ""  # what a person may change before they approve


def ticket_open(args: Act, context: CallContext) -> Answer:
    """Open a ticket; the provider acts once a key."""
    made = post(context, "/tickets", {"title": args.mark, "body": args.note})
    return Answer(result={"id": made["id"], "key": context.key}, reference=made["id"])


def ticket_seen(args: Act, answer: Answer) -> Observed:
    """Count the tickets of the key."""
    found = read("/tickets", key=answer.result["key"])["tickets"]
    right = [one for one in found if one["title"] == args.mark]
    return Observed(matches=len(found) == len(right) == 1, seen=[one["id"] for one in found])


def mail_id(key: str) -> str:
    """Return the Message-ID of a call."""
    return f"{key}@drills.test"


def mail_send(args: Act, context: CallContext) -> Answer:
    """Send one mail under a Message-ID that follows from the key."""
    message = EmailMessage()
    message["Message-ID"] = f"<{mail_id(context.key)}>"
    message["From"], message["To"], message["Subject"] = "drill@agents.test", "on-call@drills.test", args.mark
    for name, value in context.headers().items():
        message[name] = value
    message.set_content(args.note or args.mark)
    with smtplib.SMTP(*mail_address(), timeout=seconds_left(context)) as server:
        cut_at_deadline(server)
        try:
            server.send_message(message)
        except smtplib.SMTPResponseException as error:
            reason = f"{error.smtp_code}"
            raise (Refused if error.smtp_code >= 500 else Unknown)(reason) from error
    return Answer(result={"key": context.key})


def mail_unsure(args: Act, context: CallContext) -> Answer:
    """Send, and not know it: the first attempt says that nobody can tell."""
    answer = mail_send(args, context)
    if context.attempt == 1:
        raise Unknown("The drill's tool cannot tell whether it has sent.")
    return answer


def mail_find(key: str) -> LookUp:
    """Look for the Message-ID."""
    found = read("/mail", message_id=mail_id(key), key=key)["messages"]
    if not found:
        return Absent()
    return Found(reference=found[0]["reference"], arguments={"mark": found[0]["subject"]}, result={"key": key})


def mail_seen(args: Act, answer: Answer) -> Observed:
    """Count the copies."""
    key = answer.result["key"]
    found = read("/mail", message_id=mail_id(key), key=key)["messages"]
    matches = len(found) == 1 and found[0]["subject"] == args.mark
    return Observed(matches=matches, seen=[one["reference"] for one in found])


def config_change(args: Act, context: CallContext) -> Answer:
    """Change a setting, if the configuration is still at the version that was seen."""
    body = {"set": {"drill.mark": args.mark}, "summary": args.mark}
    made = post(context, f"/config/{args.place}", body, **{"If-Match": context.seen or ""})
    return Answer(result={"version": made["version"], "key": context.key}, reference=made["version"])


def config_find(key: str) -> LookUp:
    """Look for the commit with the key."""
    found = read("/config/log", key=key)["commits"]
    if not found:
        return Absent()
    return Found(reference=found[0]["version"], result={"version": found[0]["version"], "key": key})


def config_seen(args: Act, answer: Answer) -> Observed:
    """Read the setting, and count the commits of the key."""
    value = read(f"/config/{args.place}")["values"]["drill"]["mark"]
    copies = len(read("/config/log", key=answer.result["key"])["commits"])
    return Observed(matches=value == args.mark and copies == 1, seen={"value": value, "commits": copies})


def config_version(args: Act) -> str:
    """Return the version that the provider will compare."""
    return str(read(f"/config/{args.place}")["version"])


def pay(args: Act, context: CallContext) -> Answer:
    """Pay; the provider knows no key and shows nothing."""
    made = post(context, "/payments", {"payee": args.mark, "cents": 100, "memo": args.note})
    return Answer(result={"id": made["id"]}, reference=made["id"])


class Items(BaseModel):
    """Several items of one call."""

    mark: str
    count: int


def batch_post(args: Items, context: CallContext) -> Answer:
    """Post all items, each under a key of its own that follows from the call's."""
    items = [{"key": f"{context.key}.{n}", "room": "drills", "text": f"{args.mark} {n}"} for n in range(args.count)]
    made = post(context, "/batch", {"items": items})
    return Answer(result={"key": context.key, "ids": [one["id"] for one in made["items"]]})


def batch_seen(args: Items, answer: Answer) -> Observed:
    """Count the notices of each item's key."""
    key = answer.result["key"]
    counts = [len(read("/batch", key=f"{key}.{n}")["items"]) for n in range(args.count)]
    return Observed(matches=counts == [1] * args.count, seen=counts)


class Sku(BaseModel):
    """What to count in the stock."""

    sku: str


@tool("drill.stock", arguments=Sku, effect_class="none", timeout=PATIENT, **walls())
def stock(args: Sku, context: CallContext) -> Any:
    """Read; no effect."""
    return read(f"/stock/{args.sku}")["left"]


QUICK: dict[str, Any] = {
    "arguments": Act,
    "timeout": TIMEOUT,
    "lag": LAG,
    "once_per": "{mark}",
    "editable": {"note"},
    "how_to_check": HOW,
    **walls(),
}
FORMS: dict[str, dict[str, Any]] = {
    "ticket": {**QUICK, "effect_class": "keyed", "execute": ticket_open, "verify": ticket_seen},
    "mail": {**QUICK, "effect_class": "readable", "execute": mail_send, "find": mail_find, "verify": mail_seen},
    "config": {
        **QUICK,
        "effect_class": "readable",
        "execute": config_change,
        "find": config_find,
        "verify": config_seen,
        "precondition": True,
        "seen": config_version,
    },
    "pay": {**QUICK, "effect_class": "opaque", "execute": pay, "timeout": PATIENT},
}


def _declare() -> None:
    for name, form in FORMS.items():
        for asked, more in ASKING.items():
            execute = form["execute"]
            declared = {key: value for key, value in form.items() if key != "execute"}
            contract = tool(f"drill.{name}{asked}", **declared, **more)
            contract(execute)
    unsure = {key: value for key, value in FORMS["mail"].items() if key != "execute"}
    tool("drill.mail_unsure", **unsure, asks=False)(mail_unsure)
    batch = {**QUICK, "arguments": Items, "editable": ()}
    tool("drill.batch", **batch, effect_class="keyed", verify=batch_seen)(batch_post)


_declare()


@check("drill.counted")
def counted(expected: dict[str, int]) -> Observation:
    """Hold where the outside has so many effects under each business key."""
    seen = {name: _count(name) for name in expected}
    return Observation(holds=seen == expected, expected=expected, seen=seen)


def _count(business_key: str) -> int:
    effects = read("/ledger/effects", business_key=business_key, system=system_of_key(business_key))["effects"]
    return sum(1 for one in effects if not one["planted"])
