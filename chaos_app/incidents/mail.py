"""Mail over SMTP: a *readable* tool. The Message-ID is made from the call's key, so that a sent mail can be found."""

import smtplib
from email.message import EmailMessage
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from chaos_app.incidents.outside import LAG, TIMEOUT, mail_address, read
from chaos_app.incidents.walls import MAIL, WEB, look_at, reaching
from tasks_app.contracts import Absent, Answer, CallContext, EffectClass, Found, LookUp, Observed, Refused, Unknown
from tasks_app.criteria import Observation, check
from tasks_app.outside import cut_at_deadline, seconds_left
from tasks_app.registry import tool

SENDER = "handrail@agents.test"
OneLine = Annotated[str, StringConstraints(pattern=r"^[^\r\n]+$", max_length=200)]


class Note(BaseModel):
    """A mail to one person."""

    to: OneLine
    subject: OneLine
    body: Annotated[str, StringConstraints(strip_whitespace=True)] = Field(max_length=20_000)


def message_id(key: str) -> str:
    """Return the Message-ID of a call: the same for each of its attempts, another for each other call."""
    return f"{key}@agents.test"


def note_find(key: str) -> LookUp:
    """Look for a mail with the call's Message-ID."""
    found = read("/mail", message_id=message_id(key))["messages"]
    if not found:
        return Absent()
    first = found[0]
    said = {name: first[name] for name in Note.model_fields}
    return Found(reference=first["reference"], arguments=said, result={"message_id": message_id(key)})


def note_verify(wanted: Note, answer: Answer) -> Observed:
    """Read the mailbox: exactly one mail with that Message-ID, and it says what was intended."""
    found = read("/mail", message_id=answer.result["message_id"])["messages"]
    right = [mail for mail in found if all(mail[name] == getattr(wanted, name) for name in Note.model_fields)]
    seen = {"copies": len(found), "to": [mail["to"] for mail in found]}
    reference = right[0]["reference"] if right else ""
    return Observed(matches=len(found) == len(right) == 1, seen=seen, reference=reference)


def note_preview(wanted: Note) -> str:
    """Say what will happen."""
    return f"Mail to {wanted.to}: {wanted.subject}"


@tool(
    "mail.notify",
    arguments=Note,
    effect_class=EffectClass.READABLE,
    timeout=TIMEOUT,
    lag=LAG,
    once_per="{id}:{to}",
    reversible=False,
    resource="mail/{to}",
    find=note_find,
    verify=note_verify,
    preview=note_preview,
    how_to_check="Look into the recipient's mailbox for the subject; the Message-ID begins with the call's key."
    + look_at("mail"),
    **reaching(WEB, MAIL),
)
def mail_notify(wanted: Note, context: CallContext) -> Answer:
    """Send one mail. A reply of 5xx is a refusal; a connection that breaks after the text was sent tells nothing."""
    message = _message(wanted, context)
    try:
        server = smtplib.SMTP(*mail_address(), timeout=seconds_left(context))
    except ConnectionRefusedError as error:
        raise Refused("No mail server answers.", code="unreachable", sent=False) from error
    with server:
        cut_at_deadline(server)
        try:
            server.send_message(message)
        except smtplib.SMTPResponseException as error:
            raise _meant(error.smtp_code, error.smtp_error) from error
        except smtplib.SMTPRecipientsRefused as error:
            raise Refused(f"The recipient was refused: {error.recipients}", code="smtp-recipient") from error
    return Answer(result={"message_id": message_id(context.key)})


def _message(wanted: Note, context: CallContext) -> EmailMessage:
    message = EmailMessage()
    message["Message-ID"] = f"<{message_id(context.key)}>"
    message["From"], message["To"], message["Subject"] = SENDER, wanted.to, wanted.subject
    for name, value in context.headers().items():
        message[name] = value
    message.set_content(wanted.body)
    return message


def _meant(code: int, said: bytes | str) -> Refused | Unknown:
    reason = f"{code}: {said.decode(errors='replace') if isinstance(said, bytes) else said}"
    return Refused(reason, code=f"smtp-{code}") if code >= 500 else Unknown(reason)


@check("mail.sent")
def mail_sent(*, to: str, incident: str) -> Observation:
    """Hold where exactly one mail about the incident is in that person's mailbox."""
    found = [
        m["subject"] for m in read("/mail")["messages"] if m["to"] == to and m["subject"].startswith(f"{incident}: ")
    ]
    return Observation(holds=len(found) == 1, expected=f"one mail about {incident} to {to}", seen=found)
