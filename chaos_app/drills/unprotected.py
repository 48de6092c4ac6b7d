"""The control: the same acts by the executor that protects nothing (``naive``), killed at the same places.

It must be caught repeating or losing effects; a judge who finds nothing here proves nothing elsewhere.
"""

import time
from dataclasses import dataclass, field
from typing import Any

from chaos_app.drills.case import Case, system_of
from chaos_app.drills.catalogue import tool_name
from chaos_app.drills.collect import witness
from chaos_app.drills.evidence import Control, Note
from chaos_app.drills.helpers import Ticket
from chaos_app.drills.kills import HOLDS
from chaos_app.drills.naive import ACTS_FIRST
from chaos_app.drills.names import Verdict
from chaos_app.drills.rows import BY_ID
from chaos_app.drills.strike import NotLandedError
from chaos_app.injector.killing import Victim, kill
from core.boundaries import Position

PLACES = (("E02", "before_send"), ("E03", "in_flight"), ("E04", "applied"), ("E05", "before"))
DONE_WITHIN = 40.0


@dataclass(eq=False)
class Unprotected(Case):
    """The run of one act, killed once at a place, by the executor that protects nothing."""

    at: tuple[str, str] = ("E04", "applied")
    how: str = ACTS_FIRST
    notes: list[Note] = field(default_factory=list)

    def play(self) -> Control:
        """Run, kill, start again, count outside."""
        self.place = self.ground.places.get(timeout=60)
        self.until = time.monotonic() + 60
        try:
            self._play()
        except NotLandedError as error:
            self._say("controller", f"not landed: {error}")
            return self._control(Verdict.NOT_FIRED)
        finally:
            self.ground.barrier.leave(self.post)
            self.ground.places.put(self.place)
        return self._control(None)

    def _play(self) -> None:
        held, hold = self._plan()
        first = self._start()
        forked = first.wait("forked", seconds=DONE_WITHIN)
        if forked is None:
            raise NotLandedError("It was never started.")
        if hold is not None:
            if not hold.reached.wait(DONE_WITHIN):
                raise NotLandedError("The place was never reached.")
        else:
            self._parked(held)
        kill(forked["pid"], Victim.CHILD)
        self._say("the drill", f"SIGKILL: {BY_ID[self.at[0]].title}")
        if hold is not None:
            hold.go.set()
        if held is not None:
            self.ground.world.client.release(held)
        first.wait("ended", seconds=10)
        again = self._start().wait("done", "failed", seconds=DONE_WITHIN)
        did = again["answer"].get("did") if again and isinstance(again["answer"], dict) else None
        self._say("the program", f"{did or 'gave no answer'}; it ends and believes that all is done")

    def _plan(self) -> tuple[int | None, Any]:
        position = Position(self.at[1])
        if position in HOLDS:
            match = {"business_key": self._key()}
            plan = self.ground.world.client.arm(system_of(self.klass), "hold", match=match, at=HOLDS[position])
            return plan.id, None
        return None, self.ground.barrier.arm(self.post, self.point(self.at))

    def _parked(self, held: int | None) -> None:
        until = time.monotonic() + DONE_WITHIN
        while held is None or self.ground.world.client.fault(held).parked == 0:
            if time.monotonic() > until:
                raise NotLandedError("The request never came to the outside.")
            time.sleep(0.05)

    def _key(self) -> str:
        return f"{tool_name(self.klass, {})}:{self.name}.act"

    def _start(self) -> Ticket:
        self._say("the program", "starts" if not self.notes else "is started again, and knows only its own note")
        return self.ground.people.order(
            "unprotected",
            **{"case": self.name, "class": str(self.klass), "order": self.how},
            tool=tool_name(self.klass, {}),
            business_key=self._key(),
            arguments={"mark": f"{self.name}.act", "place": self.place},
            note=str(self.ground.folder / f"note-{self.name}.json"),
        )

    def _say(self, who: str, what: str) -> None:
        self.notes.append(Note(at=time.time(), who=who, what=what))

    def _control(self, end: Verdict | None) -> Control:
        found = witness(self.ground.world.client, (), [self._key()])
        count = len(found.effects)
        verdict = end or (Verdict.REPEATED if count > 1 else Verdict.LOST if count == 0 else Verdict.ONCE)
        self._say("the outside", f"{count} effect{'' if count == 1 else 's'} in all")
        return Control(kind="unprotected", end=verdict, effects={"act": count}, notes=tuple(self.notes), witness=found)
