"""Faults that people make while a call waits for them: many answer at once, or somebody changes the call meanwhile."""

import time

from chaos_app.drills.case import Case
from chaos_app.drills.helpers import Ticket
from chaos_app.drills.names import Proof, Stage
from chaos_app.drills.strike import NotLandedError
from chaos_app.drills.watch import Seen

MANY = 6
WITHIN = 40.0


class Waiting(Case):
    """A case whose people do nothing by themselves until the fault was done."""

    is_done = False

    def arm(self) -> None:
        """Nobody is held: the call that waits is the moment."""
        self.mark(Stage.ARMED, what="planned for the call that waits for a person")

    def _move(self, seen: Seen) -> None:
        if self.is_done:
            super()._move(seen)

    def _asked(self) -> tuple[Seen, str]:
        """Wait until a call waits; return its task and the approval."""
        while True:
            self.tick()
            for seen in self.watch.of(self.name):
                if seen.asked():
                    self.mark(Stage.REACHED, what="a call waits for a person")
                    return seen, str(seen.asked()[0]["id"])
            if time.monotonic() > self.until:
                raise NotLandedError("No call ever waited for a person.")
            time.sleep(0.05)

    def _answers(self, tickets: list[Ticket]) -> list[dict[str, object]]:
        said = [ticket.wait("done", "failed", seconds=WITHIN) for ticket in tickets]
        if not all(one and one["stage"] == "done" for one in said):
            raise NotLandedError(f"Not everybody had an answer: {said}")
        return [one["answer"] for one in said if one]


class Deciding(Waiting):
    """One approval is given by many at once, in processes of their own."""

    def strike(self) -> None:
        """Let them answer."""
        _, approval = self._asked()
        self.mark(Stage.FIRED, what=f"{MANY} answers sent at once")
        self.moved[approval] = self.order("approve", approval=approval)
        others = [self.order("approve", approval=approval) for _ in range(MANY - 1)]
        answers = self._answers([self.moved[approval], *others])
        self.is_done = True
        new = sum(bool(answer.get("new")) for answer in answers)
        what = f"{MANY} answers arrived; {new} of them decided"
        self.mark(Stage.LANDED, what=what, proof=Proof.RECORD)


class Edited(Waiting):
    """A person changes the call while another one still has the old one before them, and approves that."""

    def strike(self) -> None:
        """Edit, then answer what is no longer asked."""
        _, approval = self._asked()
        self.mark(Stage.FIRED, what="the call is edited")
        (edited,) = self._answers([self.order("edit", approval=approval)])
        if "refused" in edited:
            raise NotLandedError(f"It was not edited: {edited['refused']}")
        (late,) = self._answers([self.order("approve", approval=approval)])
        if "refused" not in late:
            raise NotLandedError("The answer to the call as it was before was taken.")
        self.is_done = True
        what = f"a new call stands in its place; the answer to the old one had {late.get('status')}"
        self.mark(Stage.LANDED, what=what, proof=Proof.RECORD)
