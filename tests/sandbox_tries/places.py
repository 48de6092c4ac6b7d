"""Where a tool tries to connect to."""

import os
import socket
import time
import urllib.request
from typing import Any

from tests.sandbox_tries.trying import Try

PATIENCE = 30  # seconds; beyond any deadline that a test sets


def reach(args: Try) -> Any:
    said = {}
    for place in args.word.split():
        host, _, port = place.rpartition(":")
        try:
            socket.create_connection((host, int(port)), timeout=2).close()
            said[place] = "connected"
        except OSError as error:
            said[place] = f"OSError: {error}"
    return said


def reach_and_hear(args: Try) -> Any:
    """Connect, and wait for whoever is there to end it."""
    host, _, port = args.word.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=10) as line:
        return {"heard": line.recv(100).decode()}


def fetch(args: Try) -> Any:
    """Get a page, or say why not."""
    try:
        with urllib.request.urlopen(args.word, timeout=PATIENCE) as page:
            return page.read().decode()
    except OSError as error:
        return f"OSError: {error}"


def fetch_or_fail(args: Try) -> Any:
    """Get a page; whatever goes wrong is raised."""
    with urllib.request.urlopen(args.word, timeout=PATIENCE) as page:
        return page.read().decode()


def fetch_or_die(args: Try) -> Any:
    """Get a page; where there is none, end without a word."""
    if fetch(args).startswith("OSError"):
        os._exit(3)


def fetch_twice(args: Try) -> Any:
    """Get a page, and then another."""
    first, second = args.word.split()
    return [fetch_or_fail(Try(what="", word=word)) for word in (first, second)]


def proxy_by_hand(args: Try) -> Any:
    """Ask the way out for a place that the contract does not name."""
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    line.connect("/run/handrail/way/proxy")
    line.sendall(args.word.encode() + b"\n")
    try:
        return line.recv(100).decode() or "closed"
    except OSError as error:
        return f"OSError: {error}"


def families(args: Try) -> Any:
    """Open sockets that know no network namespaces, or no network at all."""
    said = {}
    for name, number in {"vsock": 40, "alg": 38, "packet": 17, "bluetooth": 31, "can": 29, "tipc": 30}.items():
        try:
            socket.socket(number, socket.SOCK_STREAM).close()
            said[name] = "opened"
        except OSError as error:
            said[name] = error.strerror
    return said


def connect_many(args: Try) -> Any:
    """Connect again and again, until none is taken for a second, and hold all of them."""
    held: list[socket.socket] = []
    patience = time.monotonic() + 1
    while len(held) < args.number and time.monotonic() < patience:
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        line.setblocking(False)
        try:
            line.connect("/run/handrail/way/proxy")
        except BlockingIOError:  # as many wait there as may
            line.close()
            time.sleep(0.01)
            continue
        line.sendall(args.word.encode() + b"\n")
        held.append(line)
        patience = time.monotonic() + 1
    return len(held)


def ask_many(args: Try) -> Any:
    """Ask for one place after another that the contract does not name."""
    for _ in range(args.number):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.connect("/run/handrail/way/proxy")
            try:
                line.sendall(args.word.encode() + b"\n")
                line.recv(1)
            except OSError:
                continue
    return args.number
