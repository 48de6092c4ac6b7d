"""What many processes print, as one stream of lines."""

import os
import sys
from dataclasses import dataclass, field
from typing import TextIO


@dataclass
class Output:
    """Lines of many processes in one stream, each with the name of its origin."""

    stream: TextIO = field(default_factory=lambda: sys.stdout)
    width: int = 8
    broken: bool = False
    _rest: dict[str, bytes] = field(default_factory=dict)

    def take(self, name: str, data: bytes) -> None:
        """Print the whole lines of ``data`` and keep the rest; no data means the end of that stream."""
        *lines, rest = (self._rest.pop(name, b"") + data).split(b"\n")
        if data:
            self._rest[name] = rest
        elif rest:
            lines.append(rest)
        for line in lines:
            self.say(name, line.decode(errors="replace"))

    def say(self, name: str, text: str) -> None:
        """Print one line. A reader that has gone (``up | head``) must not take us down half-way."""
        try:
            print(f"{name:<{self.width}} | {text}", file=self.stream, flush=True)
        except BrokenPipeError:
            self.broken = True
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.stream.fileno())  # what is still buffered must not fail again at the end
            os.close(nowhere)
