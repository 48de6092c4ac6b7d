"""From a takeover of a real task to the case that reproduces it, with the agent's own tools where a target has them.

Pure: events in, the name of a case and a sentence out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from chaos_app.drills.cells import Cell
from chaos_app.drills.named import cell_named
from chaos_app.drills.names import Fault, Klass
from chaos_app.drills.rows import BY_ID
from tasks_app.record.reducing_calls import Fact
from tasks_app.status import EffectClass
from tasks_app.timeline.cause import Place, Standing, place_of

ASKED = "asked"
# Where the lost worker stood, by the state of the call that was open: row, position, and the workload that comes by.
# A call that waits for a person, or is in doubt, is open while its worker ends the work session.
_ROWS = {
    "attempted": ("E04", "applied", ""),
    "unknown": ("E06", "after_receive", ""),
    "answered": ("E08", "before", ""),
    "intended": ("D03", "after", ""),
    "asked": ("A01", "after", ""),
    "approved": ("E01", "before", ASKED),
    "in doubt": ("C02", "before", ""),
    "started": ("E03", "in_flight", ""),
}
_WITHOUT_CALL = {
    "context.selected": ("D01", "after_receive", ""),
    "step.decided": ("D02", "after", ""),
    "slice.claimed": ("L03", "after", ""),
    "task.claimed_complete": ("F02", "before", ""),
    "evidence.observed": ("F01", "before", ""),
    "wait.started": ("C02", "before", ""),
    "checkpoint.advanced": ("C01", "after", ""),
}
START = ("L03", "after", "")
# What the record says of how a loss was seen; a death that its keeper proved has the word of its parent, if that lived.
_SEEN = {
    "killed at deadline": Fault.HANG,
    "killed with another task's slice": Fault.KILL,
    "database away": Fault.CONNECTION_CUT,
}
_FAILED = "executor failed"
SET_BACK = "the database is another one, or was set back"
NO_REPORT = "no report from outside by the deadline"
RAN_OUT = "lease ran out"


class NotReproducible(ValueError):
    """No drill makes this again; the words say why."""


@dataclass(frozen=True, kw_only=True)
class Own:
    """A target that drills the agent of a task. ``holds``: a proxy before its service can hold a request."""

    path: str
    name: str
    call: str
    tool: str
    holds: bool


@dataclass(frozen=True, kw_only=True)
class Pinned:
    """A case by its name. ``target``: whose agent plays it, "" for a built-in one; ``says``: what it makes again."""

    cell: str
    target: str
    says: str


@dataclass(frozen=True, kw_only=True)
class _Lost:
    """Where a worker was lost, and of which call. ``tool`` "" where no call with an effect was open."""

    row: str
    position: str
    workload: str
    klass: Klass
    fault: Fault
    call: str = ""
    tool: str = ""


def pinned(facts: Sequence[Fact], lost: int, *, came_back: bool = False, own: Sequence[Own] = ()) -> Pinned:
    """Return the case that dies where the worker died whose loss is event ``lost``.

    An attempt without an answer may have arrived or not; the case with the effect done and its answer lost is taken,
    in which a wrong resume would repeat it. ``came_back``: the lost worker wrote later; it was only stopped. ``own``:
    the targets of the task's agent. Raises ValueError where that event is no loss, NotReproducible.
    """
    found = _lost(facts, lost, came_back)
    mine = next((one for one in own if (one.call, one.tool) == (found.call, found.tool)), None)
    if mine is not None and (name := _of_own(found, mine)):
        return Pinned(cell=name, target=mine.path, says=f"It is played with your own agent, as {mine.path} says.")
    cell = _cell(found)
    return Pinned(cell=cell.id, target="", says=_of_built_in(found, own))


def _lost(facts: Sequence[Fact], lost: int, came_back: bool) -> _Lost:
    loss = next((fact for fact in facts if fact.seq == lost and fact.kind == "slice.lost"), None)
    if loss is None:
        raise ValueError(f"Event {lost} is no lost worker.")
    fault = _fault(str(loss.data.get("seen", "")), loss.data.get("exit_status"), came_back)
    before = [fact for fact in facts if fact.seq < lost]
    place = place_of(before)
    acting = {name: one for name, one in place.calls.items() if one.effect_class != EffectClass.NONE}
    name, standing = next(iter(acting.items()), ("", None))
    row, position, workload = _where(place, standing)
    klass, tool = _klass_and_tool(before, name, standing)
    form = {"row": row, "position": position, "workload": workload}
    return _Lost(**form, klass=klass, fault=fault, call=name, tool=tool)


def _fault(seen: str, exit_status: object, came_back: bool) -> Fault:
    """Return what to do to a worker so that it is lost as this one was. Raises NotReproducible."""
    if seen == NO_REPORT:
        raise NotReproducible(
            "No worker was lost here: the agent runs outside and sent no report in time. A drill kills workers of "
            "Handrail only; what an unreported call leads to is drilled at E03 with a tool that cannot be checked."
        )
    if seen == SET_BACK:
        return Fault.FAILOVER
    if seen == RAN_OUT:
        return Fault.ZOMBIE if came_back else Fault.KILL_BOTH
    if seen.startswith(_FAILED):
        return Fault.EXCEPTION
    return _SEEN.get(seen) or (Fault.KILL if exit_status else Fault.KILL_WORKER)


def _where(place: Place, standing: Standing | None) -> tuple[str, str, str]:
    if standing is None:
        return _WITHOUT_CALL.get(place.last, START)
    row, position, workload = _ROWS.get(standing.state, START)
    return row, position, workload or (ASKED if standing.under_approval else "")


def _klass_and_tool(facts: Sequence[Fact], name: str, standing: Standing | None) -> tuple[Klass, str]:
    planned = [fact for fact in facts if fact.kind == "call.intended" and fact.data["name"] == name]
    tool = str(planned[-1].data.get("tool", "")) if planned else ""
    if standing is None or standing.effect_class not in {"keyed", "readable", "opaque"}:
        return Klass.KEYED, tool
    guarded = bool(planned and planned[-1].data.get("seen"))
    return Klass.PRECONDITION if guarded else Klass(standing.effect_class), tool


def _cell(lost: _Lost) -> Cell:
    """Return the case of the table; where it has no such fault there, the nearest place that has the same record."""
    for row, position, fault in _near(lost):
        words = [row, position, str(lost.klass), _slug(fault)]
        words += [lost.workload] if lost.workload and lost.workload != BY_ID[row.partition(".")[0]].workloads[0] else []
        made = cell_named(".".join(words))
        if made is not None and lost.klass in BY_ID[made.row].classes:
            return made
    raise NotReproducible(f"No drill can do this where the worker was lost: {lost.fault}.")


def _near(lost: _Lost) -> list[tuple[str, str, Fault]]:
    row, position = lost.row, lost.position
    if lost.fault == Fault.FAILOVER:
        return [("C03", "situation.E05-after", lost.fault)]
    if lost.fault == Fault.HANG and row == "E04":
        return [("L04", "situation.E02-before_send", lost.fault)]
    # Effect done, answer not recorded: the same record and the same outside as before the outcome's commit.
    near = [(row, position), ("E05", "before")] if row in {"E03", "E04"} else [(row, position), ("E05", "after")]
    return [(*at, lost.fault) for at in near]


def _of_own(lost: _Lost, own: Own) -> str:
    """Return the case of a target; without a proxy nobody can hold a request: then before its outcome is recorded."""
    row, position = lost.row, lost.position
    if row in {"E03", "E04"} and not own.holds:
        row, position = "E05", "before"
    words = [row, position, str(lost.klass), _slug(lost.fault), own.name, own.call]
    made = cell_named(".".join(words), own=[own.name])
    return made.id if made is not None else ""


def _slug(fault: Fault) -> str:
    return fault.name.lower().replace("_", "-")


def _of_built_in(lost: _Lost, own: Sequence[Own]) -> str:
    if not lost.call:
        return "No call with an effect was open, so any agent shows it: it is played with a built-in one."
    said = f"It is played with a built-in agent whose tool makes the same promise as {lost.tool}; yours is not run."
    if own:
        return f"{said} Your target {own[0].path} drills another call, or this fault cannot be done to it."
    return f"{said} To have your own agent and tool drilled, give its package a Target in PACKAGE.drill."
