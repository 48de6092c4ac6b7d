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


def two_answers(args: Try) -> Any:
    """Claim one answer, then another in the same breath."""
    each = [b'{"value": {"kind": "", "fields": {"value": "%s"}}}\n' % word for word in (b"first", b"second")]
    for descriptor in range(3, 4096):
        try:
            os.write(descriptor, b"".join(each))
        except OSError:
            continue
    time.sleep(60)


def bit_by_bit(args: Try) -> Any:
    """Say an answer of one's own making a byte at a time, and never end it."""
    for byte in b'{"value": {"kind": "", "fields": {"value": "' + b"x" * 5000:
        for descriptor in range(3, 16):
            try:
                os.write(descriptor, bytes([byte]))
            except OSError:
                continue
    time.sleep(60)


def claim(args: Try) -> Any:
    """Say what is asked for on every descriptor, the channel among them."""
    for descriptor in range(3, 4096):
        try:
            os.write(descriptor, args.file["said"].encode() + b"\n")
        except OSError:
            continue
    time.sleep(60)
