"""Mail: sent over SMTP, kept in a Maildir, readable by Message-ID. A mailbox does not remove duplicates."""

import asyncio
import logging
from dataclasses import asdict
from typing import Any

from aiosmtpd.smtp import SMTP, Envelope, Session

from chaos_app.world.attend import Answer, attend
from chaos_app.world.errors import Refused
from chaos_app.world.faults import fault_read
from chaos_app.world.mailbox import Message, marks_of, parse, text_of
from chaos_app.world.marks import FAULT
from chaos_app.world.operation import Operation
from chaos_app.world.outside import Outside
from chaos_app.world.visit import Reply, Visit

SYSTEM = "mail"
LARGEST_MESSAGE = 4 * 1024 * 1024
GARBAGE = "\x00\x01 not a reply"


async def mail_deliver(outside: Outside, visit: Visit) -> Reply:
    """Keep one message."""
    async with outside.lock:
        reference = await asyncio.to_thread(outside.mailbox.deliver, visit.content, planted=visit.planted)
        outside.ledger.effect(visit, reference=reference, arguments=visit.arguments)
    return Reply(250, f"OK kept as {visit.arrival}")


def mail_find(outside: Outside, visit: Visit) -> Reply:
    """Messages by ``message_id``; without it, all of them."""
    found = outside.mailbox.messages(visit.query.get("message_id"))
    rows = visit.seen([message_shown(message) for message in found])
    return Reply(200, {"messages": rows, "count": len(rows), "complete": True})


def message_shown(message: Message) -> dict[str, Any]:
    """A message as the API shows it."""
    plain = asdict(message)
    marks = plain.pop("marks")
    return plain | {name: marks[name] for name in ("key", "call", "business_key", "attempt")}


class Postman:
    """The handler of the SMTP server."""

    def __init__(self, outside: Outside) -> None:
        self._outside = outside
        self._carried: set[asyncio.Task[Answer]] = set()

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        """Take one message. The server cancels this when the sender goes away; the message is carried on."""
        try:
            visit = _visit(envelope)
        except Refused as refused:
            return f"554 5.6.0 {refused.detail}"
        task = asyncio.get_running_loop().create_task(attend(self._outside, visit, mail_deliver))
        self._carried.add(task)
        task.add_done_callback(self._carried.discard)
        return await _reply(server, await asyncio.shield(task))

    async def handle_exception(self, error: Exception) -> str:
        """Something that nobody thought of: the sender is told, the log has the trace."""
        logging.getLogger("world").error("SMTP failed", exc_info=error)
        return "451 4.3.0 The outside world failed here; its log says why."


def _visit(envelope: Envelope) -> Visit:
    content = envelope.original_content or b""
    message = parse(content)
    told = message[FAULT]
    marks = marks_of(message)
    arguments = {
        "from": envelope.mail_from,
        "to": list(envelope.rcpt_tos),
        "subject": str(message["Subject"] or ""),
        "body": text_of(message),
    }
    return Visit(
        system=SYSTEM,
        operation="send",
        acts=True,
        method="SMTP",
        path="/mail",
        marks=marks,
        arguments=arguments,
        content=content,
        fault=fault_read(str(told)) if told else None,
    )


async def _reply(server: SMTP, answer: Answer) -> str:
    if answer.ending == "cut":
        if isinstance(server.transport, asyncio.Transport):
            server.transport.abort()
        # The server ends this coroutine when it learns that the connection is gone.
        await asyncio.Event().wait()
    if answer.ending == "garbage":
        return GARBAGE
    if answer.ending == "slow":
        await asyncio.sleep(answer.seconds)
    return _line(answer.reply)


def _line(reply: Reply) -> str:
    if reply.status == 250:
        return f"250 {reply.body}"
    if reply.status == 202:
        return "250 OK accepted"
    detail = reply.body["detail"]
    return f"451 4.3.0 {detail}" if reply.status >= 500 else f"550 5.7.1 {detail}"


OPERATIONS = [Operation(SYSTEM, "lookup", "GET", "/mail", mail_find, acts=False)]
