"""What a tool claims on its channel beside its answer."""

import os
import time
from typing import Any

from tests.sandbox_tries.trying import Try


def garbage(args: Try) -> Any:
    """Write noise to every descriptor, the channel among them."""
    for descriptor in range(3, 4096):
        try:
            os.write(descriptor, args.word.encode("latin-1") + b"\n")
        except OSError:
            continue
    time.sleep(60)


def garbage_now(args: Try) -> Any:
    """Noise, without waiting for what follows."""
    for descriptor in range(3, 4096):
        try:
            os.write(descriptor, b"noise\n")
        except OSError:
            continue
    time.sleep(60)


def forge(args: Try) -> Any:
    """Claim an answer of one's own making, and go on acting."""
    for descriptor in range(3, 4096):
        try:
            os.write(descriptor, b'{"value": {"kind": "Answer", "fields": {"result": "forged", "reference": "F-1"}}}\n')
        except OSError:
            continue
    time.sleep(60)


def forge_late(args: Try) -> Any:
    time.sleep(args.number)
    return forge(args)


def flood(args: Try) -> Any:
    """More on the channel than any answer may have, without an end of line."""
    piece = b"x" * 65536
    while True:
        for descriptor in range(3, 4096):
            try:
                os.write(descriptor, piece)
            except OSError:
                continue
