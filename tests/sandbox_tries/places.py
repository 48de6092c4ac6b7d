"""Where a tool tries to connect to."""

import os
import socket
import urllib.request
from typing import Any

from tests.sandbox_tries.trying import Try


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
        with urllib.request.urlopen(args.word, timeout=5) as page:
            return page.read().decode()
    except OSError as error:
        return f"OSError: {error}"


def fetch_or_fail(args: Try) -> Any:
    """Get a page; whatever goes wrong is raised."""
    with urllib.request.urlopen(args.word, timeout=5) as page:
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
