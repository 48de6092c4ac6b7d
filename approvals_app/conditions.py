"""Conditions of policy rules: CEL, checked when it is written and bounded when it runs. Pure: no Django.

The one adapter around the CEL library. Its evaluator stops an expression after a fixed number of iterations and its
regular expressions run in linear time, so that no condition can hold a worker; what took longer than ``MOST_SECONDS``
all the same counts as failed. It follows values into each other on the stack, without a limit of its own: deeper than
``MAX_DEPTH`` it would end the process, so that such a call fails before it. Looking for one text of a call within
another takes the product of their lengths, and so has a bound of its own.
"""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from cel_expr_python import cel

from core.json_text import MAX_DEPTH, deeper_than

MOST_SECONDS = 0.25  # for one condition
LONGEST = 2000  # characters
MOST_SEARCHED = 100_000  # characters of a call in which a condition looks for texts that the call brings as well

_PLACE = re.compile(r"<input>:(\d+):(\d+): (.+)")
_KNOWN_SEARCH = re.compile(r"""\.contains\(\s*(?:"[^"\\\n]*"|'[^'\\\n]*')\s*\)""")  # for what the rule itself spells
# What a condition can speak of. A name that is not here is a mistake that is found when the rule is written.
VARIABLES: Mapping[str, tuple[str, str]] = {
    "tool": ("string", "the tool's name"),
    "contract": ("map", "version, effect_class, risk, asks, reversible, sandbox"),
    "arguments": ("map", "the call's arguments, as validated"),
    "agent": ("string", "the agent's name"),
    "labels": ("map", "the task's labels"),
    "risk": ("string", "low, medium or high, as the contract says"),
    "cost": ("number or null", "what the call costs, where its tool says so"),
    "time": ("timestamp", "when it is asked"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """What is wrong with a condition, and where: line and column count from 1."""

    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"Line {self.line}, column {self.column}: {self.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """What a condition came to. ``failed`` says why it came to nothing; it matched neither way then."""

    matched: bool = False
    failed: str = ""
    seconds: float = 0.0


class BadCondition(ValueError):
    """A condition that cannot be used; ``mistakes`` point at each place."""

    def __init__(self, mistakes: list[Mistake]) -> None:
        self.mistakes = mistakes
        super().__init__("; ".join(map(str, mistakes)))


def condition_check(text: str) -> None:
    """Raise BadCondition unless ``text`` is a condition over ``VARIABLES`` that answers yes or no."""
    _compiled(text)


def condition_match(text: str, subject: Mapping[str, Any]) -> Match:
    """Evaluate a condition; never raises. Anything but yes or no within the limit is a failure, with its reason."""
    if any(deeper_than(value, MAX_DEPTH) for value in subject.values()):
        return Match(failed=f"The call holds values more than {MAX_DEPTH} levels deep in each other.")
    if "contains" in _KNOWN_SEARCH.sub("", text) and _characters(subject) > MOST_SEARCHED:
        return Match(
            failed=f"It looks for texts of the call within others, and they have over {MOST_SEARCHED:,} characters."
        )
    started = time.perf_counter()
    try:
        value = _compiled(text).eval(data=dict(subject)).plain_value()
    except BadCondition as bad:
        return Match(failed=str(bad))
    except Exception as error:  # the library raises RuntimeError, and whatever a value makes of it
        return Match(failed=_first_line(str(error)), seconds=time.perf_counter() - started)
    seconds = time.perf_counter() - started
    if seconds > MOST_SECONDS:
        return Match(failed=f"It took {seconds:.2f} s; the limit is {MOST_SECONDS:g} s.", seconds=seconds)
    if not isinstance(value, bool):
        return Match(failed=_first_line(str(value)), seconds=seconds)
    return Match(matched=value, seconds=seconds)


def _characters(subject: Mapping[str, Any]) -> int:
    count, waits = 0, [*subject.values()]
    while waits:
        one = waits.pop()
        if isinstance(one, str):
            count += len(one)
        elif isinstance(one, Mapping):
            waits += [*one, *one.values()]
        elif isinstance(one, list | tuple):
            waits += one
    return count


@cache
def _environment() -> cel.Env:
    kind = cel.Type
    anything = kind.Map(kind.STRING, kind.DYN)
    types = {"string": kind.STRING, "map": anything, "number or null": kind.DYN, "timestamp": kind.TIMESTAMP}
    return cel.NewEnv(variables={name: types[spelt] for name, (spelt, _) in VARIABLES.items()})


@lru_cache(maxsize=1024)
def _compiled(text: str) -> cel.Expression:
    if len(text) > LONGEST:
        raise BadCondition([Mistake(line=1, column=LONGEST, message=f"A condition has at most {LONGEST} characters.")])
    try:
        compiled = _environment().compile(text)
    except Exception as error:
        raise BadCondition(_mistakes(str(error))) from error
    if compiled.return_type().name() != "BOOL":
        said = f"It answers with a {compiled.return_type().name().lower()}, and must answer yes or no: compare it."
        raise BadCondition([Mistake(line=1, column=1, message=said)])
    return compiled


def _mistakes(said: str) -> list[Mistake]:
    found = [
        Mistake(line=int(line), column=int(column), message=message.removesuffix(" [INVALID_ARGUMENT]"))
        for line, column, message in _PLACE.findall(said)
    ]
    return found or [Mistake(line=1, column=1, message=_first_line(said))]


def _first_line(text: str) -> str:
    return text.strip().split("\n")[0][:300]
