"""The process table: each line of ``Procfile`` is ``name: command``, with ``$VARIABLES`` filled in."""

import shlex
import sys
from collections.abc import Mapping
from string import Template


def commands(text: str, variables: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the command of each name, in order. ``python`` means the interpreter that reads this.

    Raises ValueError for a line that is not ``name: command`` and KeyError for a variable that is not given.
    """
    table: dict[str, tuple[str, ...]] = {}
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, colon, command = line.partition(":")
        words = [Template(word).substitute(variables) for word in shlex.split(command)]
        if not colon or not words or name.strip() in table:
            raise ValueError(f"Procfile: {line!r} is not 'name: command', or the name is there twice.")
        table[name.strip()] = tuple(sys.executable if word == "python" else word for word in words)
    return table
