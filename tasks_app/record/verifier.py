"""Checks an exported record anywhere: ``python3 verifier.py FILE`` needs nothing but Python 3.12 and this one file.

An export is JSON lines. First a header, then the events in order, then the blobs:

    {"format": "handrail-record/1", "stream": UUID, "kind": "task" or "administration",
     "head_seq": N, "head_digest": HEX, "exported_at": TEXT}
    {"seq": N, "body": TEXT, "at_us": MICROSECONDS SINCE 1970 UTC, "digest": HEX}
    {"blob": SHA-256 HEX, "size": BYTES, "media_type": TEXT, "base64": TEXT}

The rule: digest(n) = SHA-256(digest(n-1) + SHA-256(body as UTF-8) + at_us as 8 bytes, signed, high byte first);
digest(0) is 32 zero bytes. The body is the text that the server hashed. What the chain cannot show is a whole
record replaced by another one: give a head digest that was noted elsewhere before (``--head``).
"""

import argparse
import base64
import binascii
import hashlib
import io
import json
import struct
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeGuard

FORMAT = "handrail-record/1"
START = bytes(32)


@dataclass
class Report:
    """What was found: ``problems`` break the record, ``notes`` do not."""

    stream: str = ""
    events: int = 0
    blobs: int = 0
    head_digest: str = ""
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Tell whether the export is whole and unchanged."""
        return not self.problems


def chain(previous: bytes, body: str, at_us: int) -> bytes:
    """Return the digest of an event from the digest before it."""
    content = hashlib.sha256(body.encode("utf-8", "surrogatepass")).digest()
    return hashlib.sha256(previous + content + struct.pack(">q", at_us)).digest()


def verify(lines: Iterable[str], *, head: str | None = None) -> Report:
    """Check an export and return what was found; never raises for what the lines hold.

    Args:
        lines: the lines of the file.
        head: a head digest (hex) noted elsewhere: one event of this record must have it.
    """
    check = _Check(head.lower() if head else None)
    for number, line in enumerate(lines, start=1):
        if line.strip():
            check.line(number, line)
    check.finish()
    return check.report


class _Check:
    """The state of one reading."""

    def __init__(self, noted: str | None) -> None:
        self.report = Report()
        self._noted, self._reached = noted, 0
        self._header: dict[str, Any] | None = None
        self._seq = 0
        self._digest: bytes | None = START
        self._at_us: int | None = None
        self._blobs: set[str] = set()
        self._wanted: dict[str, tuple[int, object]] = {}

    def problem(self, sentence: str) -> None:
        self.report.problems.append(sentence)

    def line(self, number: int, line: str) -> None:
        entry = _parsed(line)
        if not isinstance(entry, dict):
            self.problem(f"Line {number} is not a JSON object.")
        elif self._header is None:
            self._take_header(number, entry)
        elif "blob" in entry:
            self._take_blob(number, entry)
        elif "seq" in entry:
            self._take_event(number, entry)
        else:
            self.problem(f"Line {number} is neither an event nor a blob.")

    def finish(self) -> None:
        """Compare the end with what the header says, the chain with the head noted elsewhere, references with blobs."""
        if self._header is None:
            self.problem("The file holds no record.")
        else:
            self._check_head(self._header)
        self._check_noted()
        for sha256, (seq, _) in self._wanted.items():
            if sha256 not in self._blobs:
                self.problem(f"Blob {sha256}, which event {seq} refers to, is missing.")
        spare = len(self._blobs - self._wanted.keys())
        if spare:
            self.report.notes.append(f"{spare} blob(s) stand in the file that no event refers to.")

    def _take_header(self, number: int, entry: dict[str, Any]) -> None:
        self._header = entry
        self.report.stream = str(entry.get("stream", ""))
        if entry.get("format") != FORMAT:
            self.problem(f"Line {number} is not the header of a record in the format {FORMAT}.")
        if entry.get("kind") not in ("task", "administration"):
            self.problem("The header names no known kind of stream.")

    def _check_head(self, header: dict[str, Any]) -> None:
        last = self._digest.hex() if self._digest else ""
        self.report.head_digest = last
        if header.get("head_seq") != self._seq:
            self.problem(
                f"The header says that {header.get('head_seq')} is the last event, the file ends at {self._seq}."
            )
        elif header.get("head_digest") != last:
            self.problem("The digest of the last event is not the one that the header gives.")

    def _check_noted(self) -> None:
        """A head that was noted is an event's digest for ever; what was changed up to it has others from there on."""
        if self._noted is None:
            return
        if self._reached:
            self.report.notes.append(f"Up to event {self._reached} it is what it was when that head was noted.")
        else:
            self.problem(f"No event has the digest {self._noted}, the one noted elsewhere.")

    def _take_event(self, number: int, entry: dict[str, Any]) -> None:
        seq, body, at_us, claimed = (entry.get(name) for name in ("seq", "body", "at_us", "digest"))
        if not (_is_int(seq) and isinstance(body, str) and _is_int(at_us) and _is_digest(claimed)):
            self.problem(f"Line {number} is not a complete event.")
            self._digest = None
            return
        self.report.events += 1
        self._follow(seq)
        self._check_digest(seq, body, at_us, claimed)
        self._check_body(seq, body)
        self._check_time(seq, at_us)

    def _follow(self, seq: int) -> None:
        """Compare the sequence; after a break the digest before this event is not known."""
        due = self._seq + 1
        if seq != due:
            self._digest = None
            if seq > due:
                self.problem(f"{_events(due, seq - 1)} missing before event {seq}.")
            else:
                self.problem(f"Event {seq} stands where event {due} is due.")
        if self._blobs:
            self.problem(f"Event {seq} stands after the blobs.")
        self._seq = seq

    def _check_digest(self, seq: int, body: str, at_us: int, claimed: str) -> None:
        """Compare the digest, then go on from the claimed one, so that each break is reported where it is."""
        if self._digest is not None and chain(self._digest, body, at_us).hex() != claimed:
            self.problem(f"Event {seq} does not have the digest of its body, its time and the event before it.")
        self._digest = bytes.fromhex(claimed)
        if claimed == self._noted:
            self._reached = seq

    def _check_body(self, seq: int, body: str) -> None:
        content = _parsed(body)
        if not isinstance(content, dict):
            self.problem(f"The body of event {seq} is not a JSON object.")
            return
        if not _is_int(content.get("seq")) or content["seq"] != seq:
            self.problem(f"The body of event {seq} says that it is event {content.get('seq')}.")
        if content.get("stream") != self.report.stream:
            self.problem(f"The body of event {seq} belongs to the stream {content.get('stream')}.")
        for reference in _references(content.get("data")):
            self._wanted.setdefault(reference["sha256"], (seq, reference.get("size")))

    def _check_time(self, seq: int, at_us: int) -> None:
        if self._at_us is not None and at_us < self._at_us:
            self.report.notes.append(f"Event {seq} is dated {_shown(at_us)}, earlier than the event before it.")
        self._at_us = at_us

    def _take_blob(self, number: int, entry: dict[str, Any]) -> None:
        sha256 = entry["blob"]
        content = _content(entry.get("base64"))
        if not _is_digest(sha256) or content is None:
            self.problem(f"Line {number} is not a complete blob.")
            return
        self.report.blobs += 1
        self._blobs.add(sha256)
        if hashlib.sha256(content).hexdigest() != sha256:
            self.problem(f"Blob {sha256} has other content than its name says.")
        if entry.get("size") != len(content):
            self.problem(f"Blob {sha256} has {len(content)} bytes, its line says {entry.get('size')}.")
        if sha256 in self._wanted and self._wanted[sha256][1] != len(content):
            self.problem(f"Blob {sha256} has {len(content)} bytes, its event says {self._wanted[sha256][1]}.")


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_int(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63


def _is_digest(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and len(value) == 64 and all(sign in "0123456789abcdef" for sign in value)


def _content(value: object) -> bytes | None:
    try:
        return base64.b64decode(value, validate=True) if isinstance(value, str) else None
    except (binascii.Error, ValueError):
        return None


def _references(node: object) -> Iterator[dict[str, Any]]:
    """Yield what stands under ``$blob`` and ``$original``; no other value in a record has these names."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(node)
        elif isinstance(node, dict):
            for name, value in node.items():
                if name in ("$blob", "$original") and isinstance(value, dict) and _is_digest(value.get("sha256")):
                    yield value
                waiting.append(value)


def _events(first: int, last: int) -> str:
    return f"Event {first} is" if first == last else f"Events {first} to {last} are"


def _shown(at_us: int) -> str:
    try:
        return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at_us)).isoformat()
    except OverflowError:
        return f"{at_us} microseconds"


def main(arguments: list[str] | None = None) -> int:
    """Check one file; print one sentence for each problem; return 0 if there is none, otherwise 1."""
    parser = argparse.ArgumentParser(description="Check an exported Handrail record.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--head", help="a head digest that was noted elsewhere, at any time")
    options = parser.parse_args(arguments)
    try:
        with options.file.open(encoding="utf-8", errors="surrogateescape", newline="\n") as lines:
            report = verify(lines, head=options.head)
    except OSError as error:
        print(f"{options.file} cannot be read: {error.strerror}.")
        return 1
    for sentence in [*report.problems, *(f"Note: {note}" for note in report.notes)]:
        print(sentence)
    if report.ok:
        print(
            f"The record {report.stream} is whole: {report.events} events, {report.blobs} blobs, {report.head_digest}."
        )
        if options.head is None:
            print("It was compared with no head that was noted elsewhere (--head): another whole record would pass.")
    return 0 if report.ok else 1


if __name__ == "__main__":
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # the file may say anything
    sys.exit(main())
