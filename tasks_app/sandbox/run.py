"""Running one sandbox from outside: speak with it, hold it to its limits, say how it ended.

What comes over the channel is untrusted: lines of JSON, so many bytes, nothing after the deadline. It is killed from
here at its deadline, by its keeper if this process is stopped, and by the kernel if this process is gone.
"""

import json
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from tasks_app.sandbox import bubblewrap, levels
from tasks_app.sandbox.pipes import pipe_holding, readable
from tasks_app.sandbox.spec import Ended, How, Spec, Usage
from tasks_app.sandbox.starting import GONE, Running, sandbox_start
from tasks_app.sandbox.stock import Stock
from tasks_app.sandbox.way import way_open

PIECE = 65536
PRINTED = 100_000  # bytes of what was printed last that are kept; of them a little is shown, once it is masked
LOOK = 0.2  # seconds between two looks at whether it may go on, and at what all of it has used and made
SPARE = 1.5  # seconds of processor time for loading, and in which the kernel ends a single process that has used all
ITSELF = 0.3  # seconds for a sandbox to end by itself
BEGAN = b'{"began": true}\n'

Told = Callable[[int], None]


@dataclass(slots=True)
class _Talk:
    """What one run has said so far."""

    running: Running
    sending: bytes
    most: int
    secrets: int | None = None  # a descriptor that goes with the first byte of the request
    heard: bytearray = field(default_factory=bytearray)
    said: bytearray = field(default_factory=bytearray)
    lines: int = 0  # that were heard
    cpu: float = 0.0  # seconds that all of it together may take
    files: int = 0  # that it may make
    how: How | None = None


def sandbox_run(
    spec: Spec,
    *,
    until: float,
    told: Told = lambda pid: None,
    may_go_on: Callable[[], bool] | None = None,
    stock: Stock | None = None,
) -> Ended:
    """Run a spec until ``until`` (monotonic clock, seconds). Never raises for what happens inside.

    ``told`` hears the process with which all of it ends, so that a keeper can end it; ``may_go_on`` is asked five
    times a second. ``stock``: where a sandbox may be taken that was started before.
    """
    started = time.monotonic()
    level = levels.level_here().name
    taken = stock.take(spec.frame, level) if stock else None
    try:
        running = taken or sandbox_start(spec.frame, level)
    except OSError as error:
        usage = Usage(level=level, wall=time.monotonic() - started)
        return Ended(how=How.NOT_STARTED, usage=usage, detail=f"The sandbox did not start: {error}")
    limits = spec.frame.limits
    talk = _Talk(running, _request(spec), limits.output, cpu=limits.cpu, files=limits.files)
    try:
        try:
            told(running.first)
            if _hand_over(talk, spec):
                _speak(talk, until, may_go_on)
        finally:
            code, usage = _finish(talk, level)
            if stock and taken is None:
                stock.want(spec.frame, level)
        return _judged(talk, code, replace(usage, wall=time.monotonic() - started))
    finally:
        running.remove()


def _hand_over(talk: _Talk, spec: Spec) -> bool:
    """Give it what is this call's alone beside the request: its way out, and its secrets."""
    try:
        if spec.proxy and talk.running.way:
            way_open(talk.running.way, spec.proxy, bubblewrap.PROXY)
        talk.secrets = pipe_holding(json.dumps(dict(spec.secrets))) if spec.secrets else None
    except OSError as error:
        talk.how = How.NOT_STARTED
        talk.said += f"The sandbox could not be given its call: {error}".encode()
    return talk.how is None


def _request(spec: Spec) -> bytes:
    request = {
        "module": spec.module,
        "qualname": spec.qualname,
        "role": spec.role,
        "tool": spec.tool,
        "version": spec.version,
        "arguments": list(spec.arguments),
        "environment": dict(spec.environment),
    }
    return json.dumps(request).encode() + b"\n"


def _speak(talk: _Talk, until: float, may_go_on: Callable[[], bool] | None) -> None:
    """Write the request, read until an answer, the end, or a limit."""
    channel, printed = talk.running.channel.fileno(), talk.running.printed
    poll = select.poll()
    poll.register(channel, select.POLLIN | select.POLLOUT)
    poll.register(printed, select.POLLIN)
    looked = time.monotonic()
    while (left := until - time.monotonic()) > 0:
        for descriptor, events in poll.poll(min(left, LOOK) * 1000):
            if descriptor == printed:
                _print(talk, poll)
            elif events & select.POLLOUT and talk.sending:
                _send(talk, poll)
            elif _listen(talk):
                return
        if time.monotonic() - looked >= LOOK:
            looked = time.monotonic()
            talk.how = _over(talk, may_go_on)
            if talk.how is not None:
                return
    talk.how = How.TIME


def _over(talk: _Talk, may_go_on: Callable[[], bool] | None) -> How | None:
    """Say why it may not go on: what it held was revoked, or all of it together has used or made too much."""
    if may_go_on and not may_go_on():
        return How.REVOKED
    running = talk.running
    used = running.used()[0] - running.used_before
    if used >= talk.cpu + SPARE:
        return How.CPU
    return How.FILES if running.files() > talk.files else None


def _send(talk: _Talk, poll: select.poll) -> None:
    try:
        sent = socket.send_fds(talk.running.channel, [talk.sending], [] if talk.secrets is None else [talk.secrets])
        talk.sending = talk.sending[sent:]
    except BlockingIOError:
        return
    except OSError:
        talk.sending = b""
    _secrets_close(talk)  # they went with the first byte
    if not talk.sending:
        poll.modify(talk.running.channel.fileno(), select.POLLIN)


def _secrets_close(talk: _Talk) -> None:
    if talk.secrets is not None:
        os.close(talk.secrets)
        talk.secrets = None


def _print(talk: _Talk, poll: select.poll) -> None:
    piece = os.read(talk.running.printed, PIECE)
    if not piece:
        poll.unregister(talk.running.printed)
    talk.said += piece
    del talk.said[:-PRINTED]


def _listen(talk: _Talk) -> bool:
    """Take what has come; True at the end of it: an answer, the end of the channel, or too much."""
    try:
        piece = talk.running.channel.recv(PIECE)
    except BlockingIOError:
        return False
    except OSError:
        return True
    talk.heard += piece
    talk.lines += piece.count(b"\n")
    if len(talk.heard) > talk.most + PIECE:
        talk.how = How.OUTPUT
        return True
    return not piece or talk.lines >= 2 or (talk.lines == 1 and not talk.heard.startswith(BEGAN))


def _finish(talk: _Talk, level: str) -> tuple[int, Usage]:
    """End all of it, wait until it is gone, and read what it used."""
    running = talk.running
    _secrets_close(talk)
    if talk.how is None and talk.lines < 2:
        running.ended_within(ITSELF)  # it closed its channel: how it ends by itself says why
    seconds, memory = running.used()
    running.kill()
    if not running.ended_within(GONE):
        running.process.kill()
        running.ended_within(GONE)
    _, status, used = os.wait4(running.process.pid, os.WNOHANG)
    code = os.waitstatus_to_exitcode(status)
    running.process.returncode = code
    if readable(running.printed, 0):
        talk.said += os.read(running.printed, PIECE)  # all that a pipe holds: without walls some may still write to it
        del talk.said[:-PRINTED]
    cpu = max(seconds, used.ru_utime + used.ru_stime) - running.used_before
    return code, Usage(level=level, cpu=max(cpu, 0.0), memory=memory)


def _judged(talk: _Talk, code: int, usage: Usage) -> Ended:
    """Say how it ended, from what it said and from what the kernel says."""
    heard, detail = bytes(talk.heard), talk.said.decode(errors="replace").strip()
    began = heard.startswith(BEGAN)
    rest = heard.removeprefix(BEGAN)
    if talk.how is not None:
        return Ended(how=talk.how, usage=usage, began=began, detail=detail)
    if not rest:
        return Ended(how=_killed_by(talk, code), usage=usage, began=began, detail=detail)
    reply = _parsed(rest.partition(b"\n")[0])
    how = _meaning(reply)
    if how in {How.RAISED, How.ANSWERED} and not began:
        how = How.GARBAGE
    return Ended(how=how, usage=usage, reply=reply, began=began, detail=detail)


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        reply = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return reply if isinstance(reply, dict) else {}


def _meaning(reply: dict[str, Any]) -> How:
    match reply:
        case {"unloadable": str()}:
            return How.UNLOADABLE
        case {"large": int()}:
            return How.OUTPUT
        case {"raised": {"type": "MemoryError"}}:
            return How.MEMORY
        case {"raised": {"type": str(), "text": str()}}:
            return How.RAISED
        case {"value": {"kind": str(), "fields": dict()}}:
            return How.ANSWERED
    return How.GARBAGE


def _killed_by(talk: _Talk, code: int) -> How:
    group = talk.running.group
    if group is not None and group.out_of_memory():
        return How.MEMORY
    if (-code if code < 0 else code - 128) == signal.SIGXCPU:
        return How.CPU
    return How.NOT_STARTED if talk.said.startswith(b"bwrap:") and not talk.heard else How.KILLED
