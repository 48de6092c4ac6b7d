"""Descriptors: closed again whatever happens, waited for within a limit, a pipe from which something is read once."""

import os
import select
from contextlib import suppress
from dataclasses import dataclass, field


@dataclass(slots=True)
class Ends:
    """Descriptors that are closed here once the sandbox has them, or has failed to start."""

    mine: list[int] = field(default_factory=list)

    def pipe(self) -> tuple[int, int]:
        """Make a pipe: (reading, writing)."""
        reading, writing = os.pipe()
        self.mine += [reading, writing]
        return reading, writing

    def holding(self, content: str | bytes) -> int:
        """Return a descriptor from which this can be read once. Raises OSError."""
        self.mine.append(reading := pipe_holding(content))
        return reading

    def close(self, descriptor: int) -> None:
        """Close one of them now."""
        self.mine.remove(descriptor)
        os.close(descriptor)

    def keep(self, descriptor: int) -> int:
        """Let one of them stay open."""
        self.mine.remove(descriptor)
        return descriptor

    def close_all(self) -> None:
        """Close the others."""
        for descriptor in self.mine:
            with suppress(OSError):
                os.close(descriptor)


def readable(descriptor: int, seconds: float) -> bool:
    """Whether something can be read there, or its end, within so many seconds; of any number, as ``select`` is not."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(max(seconds, 0.0) * 1000))


def pipe_holding(content: str | bytes) -> int:
    """Return a descriptor from which this can be read once. Raises OSError beyond what a pipe takes."""
    content = content.encode() if isinstance(content, str) else content
    reading, writing = os.pipe()
    try:
        os.set_blocking(writing, False)
        if os.write(writing, content) != len(content):
            raise OSError("more than a pipe takes")
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    return reading
