"""The trials of a tool: one key twice, two keys with equal arguments, a cut in between, a look-up without effect.

Each trial acts on the target that the tool declares (a test account of the outside), and counts with ``ledger``.
"""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from secrets import token_hex
from typing import Any

from tasks_app.contracts import Absent, Answer, CallContext, Contract, Found, Started
from tasks_app.runtime.acting import LOOKING_SECONDS, find_act, pause_fit, seen_act
from tasks_app.runtime.watchdog import DeadlinePassed
from tasks_app.sandbox.invoke import Report, function_run
from tasks_app.status import EffectClass

Ledger = Callable[[], Iterable[Mapping[str, Any]]]
CUT_SECONDS = 10.0
LONG_SECONDS = 120.0  # of long work, until it is believed never to end
TWICE, CARRIES = "one key twice is one effect", "the effect carries the key"
SEES, LOOKS = "a look-up sees its own effect alone", "looking has no effect"
CUT, WITHOUT = "after a cut there is one effect", "running it has no effect"
# What must have held for a class to be true.
NEEDS = {
    EffectClass.NONE: (WITHOUT,),
    EffectClass.KEYED: (TWICE, CARRIES),
    EffectClass.READABLE: (CARRIES, SEES, LOOKS),
    EffectClass.OPAQUE: (),
}


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One thing that was tried. ``holds`` None: it could not be tried, and ``saw`` says why."""

    name: str
    holds: bool | None
    saw: str


@dataclass(frozen=True, kw_only=True)
class Proof:
    """What the trials show: the strongest class that they support, beside the declared one."""

    tool: str
    version: int
    declared: str
    shown: str
    trials: tuple[Trial, ...]

    @property
    def is_true(self) -> bool:
        """Whether the tool keeps what it declares; declaring less than what was shown is true as well."""
        held = {trial.name: trial.holds for trial in self.trials}
        needed = NEEDS[EffectClass(self.declared)]
        return all(held.get(name) for name in needed) and held.get(CUT) is not False


@dataclass(slots=True)
class Bench:
    """A tool on its target. ``arguments`` are made anew for each trial, so that nothing of an earlier one is met."""

    contract: Contract
    arguments: Callable[[], Any]
    ledger: Ledger

    def count(self, key: str) -> int:
        """How many effects the outside counts under a key."""
        return sum(entry.get("key") == key for entry in self.ledger())

    def total(self) -> int:
        """How many effects the outside counts in all."""
        return sum(1 for _ in self.ledger())

    def send(self, key: str, arguments: Any) -> Answer | None:
        """Act once; None where the tool said no or could not tell."""
        now = time.monotonic()
        context = CallContext(
            key=key,
            task=f"proof-{key}",
            name="proof",
            attempt=1,
            epoch=1,
            deadline=now + self.contract.timeout,
            seen=seen_act(self.contract, arguments) if self.contract.seen else None,
        )
        try:
            answer = self._acted(arguments, context)
        except (Exception, DeadlinePassed):
            return None
        return answer if isinstance(answer, Answer) else None

    def _acted(self, arguments: Any, context: CallContext) -> Any:
        """Act as the runtime does: long work is started, and asked after until it is done."""
        role, until = "start" if self.contract.start else "execute", time.monotonic() + LONG_SECONDS
        answer = function_run(self.contract, role, arguments, context, until=context.deadline, report=Report())
        while isinstance(answer, Started) and time.monotonic() < until:
            time.sleep(pause_fit(answer.poll_after, otherwise=1.0))
            asked = time.monotonic() + LOOKING_SECONDS
            answer = function_run(self.contract, "poll", answer.handle, until=asked, report=Report())
        return answer


def prove(contract: Contract, *, arguments: Callable[[], Any], ledger: Ledger) -> Proof:
    """Try a tool. ``ledger`` returns every effect of the target, each with the ``key`` that it carries."""
    bench = Bench(contract, arguments, ledger)
    if contract.effect_class == EffectClass.NONE:
        trials = [_running(bench)]
        shown = EffectClass.NONE if trials[0].holds else EffectClass.OPAQUE
    else:
        trials = [_one_key_twice(bench), *_two_keys(bench), _cut(bench), _looking(bench)]
        shown = _shown({trial.name: trial.holds for trial in trials})
    return Proof(
        tool=contract.name,
        version=contract.version,
        declared=str(contract.effect_class),
        shown=str(shown),
        trials=tuple(trials),
    )


def _key() -> str:
    return f"proof-{token_hex(8)}"


def _running(bench: Bench) -> Trial:
    before = bench.total()
    bench.send(_key(), bench.arguments())
    after = bench.total()
    return Trial(name=WITHOUT, holds=before == after, saw=f"{before} effects before it ran, {after} after.")


def _one_key_twice(bench: Bench) -> Trial:
    key, arguments = _key(), bench.arguments()
    bench.send(key, arguments)
    once = bench.count(key)
    bench.send(key, arguments)
    twice = bench.count(key)
    saw = f"The outside counts {once} effect after the first request and {twice} after the second."
    return Trial(name=TWICE, holds=once == 1 and twice == 1 if once else None, saw=saw)


def _two_keys(bench: Bench) -> list[Trial]:
    """A second call with equal arguments is another call: its look-up finds nothing before it is sent."""
    find, arguments = bench.contract.find, bench.arguments()
    first, second = _key(), _key()
    bench.send(first, arguments)
    carried = bench.count(first) == 1
    carries = Trial(
        name=CARRIES,
        holds=carried,
        saw=f"The outside counts {bench.count(first)} effect under the key that was sent.",
    )
    if find is None:
        return [carries, Trial(name=SEES, holds=None, saw="The tool has no look-up.")]
    own, other = find_act(bench.contract, first), find_act(bench.contract, second)
    saw = f"By its own key: {_said(own)}; by another key with equal arguments: {_said(other)}."
    holds = isinstance(own, Found) and isinstance(other, Absent)
    return [carries, Trial(name=SEES, holds=holds, saw=saw)]


def _said(answer: object) -> str:
    return type(answer).__name__.lower() if not isinstance(answer, Found) else f"found {answer.reference}"


def _cut(bench: Bench) -> Trial:
    """The process that acts is killed as soon as its effect is there; then what the class says is done."""
    name, key, arguments = CUT, _key(), bench.arguments()
    child = _child(bench, key, arguments)
    until = time.monotonic() + CUT_SECONDS
    while not bench.count(key) and time.monotonic() < until and _lives(child):
        time.sleep(0.01)
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if not bench.count(key):
        return Trial(name=name, holds=None, saw="The effect never came about, so nothing could be cut.")
    if bench.contract.effect_class == EffectClass.KEYED:
        bench.send(key, arguments)
        return Trial(
            name=name, holds=bench.count(key) == 1, saw=f"Sent again: {bench.count(key)} in the outside count."
        )
    if bench.contract.find is None:
        return Trial(name=name, holds=None, saw="Nothing can be sent again or looked up: a person is asked.")
    time.sleep(bench.contract.lag)
    found = find_act(bench.contract, key)
    return Trial(name=name, holds=isinstance(found, Found) and bench.count(key) == 1, saw=f"Looked up: {_said(found)}.")


def _child(bench: Bench, key: str, arguments: Any) -> int:
    child = os.fork()
    if child:
        return child
    try:
        bench.send(key, arguments)
    finally:
        os._exit(0)


def _lives(child: int) -> bool:
    try:
        return os.waitpid(child, os.WNOHANG) == (0, 0)
    except ChildProcessError:
        return False


def _looking(bench: Bench) -> Trial:
    name, find = LOOKS, bench.contract.find
    if find is None:
        return Trial(name=name, holds=None, saw="The tool has no look-up.")
    before = bench.total()
    for _ in range(3):
        find_act(bench.contract, _key())
    after = bench.total()
    return Trial(name=name, holds=before == after, saw=f"{before} effects before three look-ups, {after} after.")


def _shown(held: Mapping[str, bool | None]) -> EffectClass:
    """Return the strongest class whose needs all held."""
    for shown in (EffectClass.KEYED, EffectClass.READABLE):
        if all(held.get(name) for name in NEEDS[shown]):
            return shown
    return EffectClass.OPAQUE


def lines(proof: Proof) -> Sequence[str]:
    """Return a proof as a person reads it."""
    words = {True: "yes", False: "NO ", None: "-  "}
    told = [f"{words[trial.holds]} {trial.name}. {trial.saw}" for trial in proof.trials]
    verdict = "The declared class is true." if proof.is_true else "The declared class is NOT true."
    head = f"{proof.tool} version {proof.version}: declared {proof.declared}, shown {proof.shown}."
    return [head, *told, verdict]
