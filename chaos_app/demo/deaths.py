"""Who dies where in ``demo --once``: each effect class, each kind of victim, twelve boundaries.

A place in the code is reached through ``cross``. A place outside (the request in flight, the answer lost) is reached
by a hold of the outside world, which parks the request; then the process that sent it is killed.
"""

from dataclasses import dataclass

from chaos_app.injector.killing import Victim
from chaos_app.injector.plan import Place, Plan
from core.boundaries import Boundary, Position

CHILD, WORKER, BOTH = Victim.CHILD, Victim.WORKER, Victim.WORKER_AND_KEEPER
B, P = Boundary, Position


@dataclass(frozen=True, kw_only=True)
class Death:
    """A death that is meant to be: in whose work, at which place, in the life of which call (of which class).

    ``trigger``: what people do that leads there, the start of the task or the approval of the call of that name.
    """

    incident: str
    boundary: Boundary
    position: Position
    victim: Victim
    call: str | None = None
    of: str = "-"
    trigger: str = "start"

    @property
    def outside(self) -> str | None:
        """At which point the outside world is to hold the request, for a place that is outside."""
        return {Position.IN_FLIGHT: "before", Position.APPLIED: "applied"}.get(self.position)

    def plan(self) -> Plan:
        """Return the plan; its place gets the task once it has been started."""
        return Plan(place=Place(boundary=self.boundary, position=self.position, call=self.call), victim=self.victim)


K, R, RP, O, N = "keyed", "readable", "readable + precondition", "opaque", "none"  # noqa: E741

DEATHS = [
    Death(incident="INC-4101", boundary=B.ATTEMPT, position=P.AFTER, call="ticket", of=K, victim=CHILD),
    Death(incident="INC-4101", boundary=B.SEND, position=P.BEFORE_SEND, call="credit", of=O, victim=CHILD),
    Death(incident="INC-4102", boundary=B.SEND, position=P.BEFORE_SEND, call="config", of=N, victim=CHILD),
    Death(
        incident="INC-4102",
        boundary=B.APPROVAL_USED,
        position=P.AFTER,
        call="change",
        of=RP,
        trigger="change",
        victim=WORKER,
    ),
    Death(incident="INC-4103", boundary=B.CLAIMED, position=P.AFTER, victim=BOTH),
    Death(incident="INC-4103", boundary=B.APPLIED, position=P.APPLIED, call="mail", of=R, victim=CHILD),
    Death(incident="INC-4104", boundary=B.IN_FLIGHT, position=P.IN_FLIGHT, call="change", of=RP, victim=CHILD),
    Death(
        incident="INC-4105",
        boundary=B.APPLIED,
        position=P.APPLIED,
        call="credit",
        of=O,
        trigger="credit",
        victim=WORKER,
    ),
    Death(incident="INC-4106", boundary=B.OUTCOME, position=P.BEFORE, call="ticket", of=K, victim=BOTH),
    Death(incident="INC-4107", boundary=B.VERIFY, position=P.BEFORE, call="change", of=RP, victim=CHILD),
    Death(incident="INC-4107", boundary=B.OUTCOME, position=P.BEFORE, call="credit", of=O, victim=CHILD),
    Death(incident="INC-4108", boundary=B.APPLIED, position=P.APPLIED, call="ticket", of=K, victim=CHILD),
    Death(incident="INC-4108", boundary=B.CLAIMS, position=P.BEFORE, victim=CHILD),
    Death(incident="INC-4109", boundary=B.APPROVAL_ASKED, position=P.AFTER, victim=CHILD),
    Death(incident="INC-4110", boundary=B.CLAIM, position=P.BEFORE, victim=CHILD),
    Death(incident="INC-4110", boundary=B.IN_FLIGHT, position=P.IN_FLIGHT, call="mail", of=R, victim=CHILD),
    Death(incident="INC-4110", boundary=B.COMPLETE, position=P.BEFORE, trigger="change", victim=WORKER),
]
TOOLS = {"ticket": "ticket.open", "change": "config.change", "credit": "vendor.credit", "mail": "mail.notify"}
