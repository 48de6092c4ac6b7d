"""Text that others supplied, made safe to look at: what cannot be seen is shown as an escape.

A reader who approves a call must see every character of it. Invisible characters can carry instructions, and
direction-changing ones can make an argument read as another; neither is dropped, both become visible escapes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

# Unicode calls these printable, yet they leave no mark: joiners, fillers, variation selectors, the empty Braille cell.
_UNSEEN_RANGES = (
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xE0100, 0xE01EF),
)
_UNSEEN = frozenset(chr(code) for first, last in _UNSEEN_RANGES for code in range(first, last + 1))
_LAYOUT = frozenset("\n\t")


@dataclass(frozen=True)
class Run:
    """A stretch of text that is shown as it is, or as escapes."""

    text: str
    escaped: bool


def is_unseen(char: str) -> bool:
    """Return whether a character leaves no mark of its own or changes the direction of others.

    Line feed and tab are layout and stay; every other control, format, separator, surrogate, private or unassigned
    character counts, and so does every space that is not the plain one.
    """
    return char not in _LAYOUT and (not char.isprintable() or char in _UNSEEN)


def is_plain(text: str) -> bool:
    """Return whether every character of a text is seen as it is: nearly every text is, and this is quick to tell."""
    if text.isascii() and text.isprintable():
        return True
    return text.replace("\n", "").replace("\t", "").isprintable() and _UNSEEN.isdisjoint(text)


def escape_char(char: str) -> str:
    """Return the escape that stands for one character, in the spelling of JavaScript."""
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\u{{{code:x}}}"


def runs(text: str) -> Iterator[Run]:
    """Split text into runs; escaped runs can be marked, so that a typed-in escape is told from a real one."""
    for unseen, chars in groupby(text, key=is_unseen):
        part = "".join(chars)
        yield Run("".join(map(escape_char, part)) if unseen else part, escaped=unseen)


def visible(text: str) -> str:
    """Return the text with every unseen character replaced by its escape."""
    return "".join(run.text for run in runs(text))


def clip(text: str, limit: int) -> tuple[str, int]:
    """Cut text after ``limit`` code points; return the part that is shown and how many characters are not."""
    return text[:limit], max(0, len(text) - limit)
