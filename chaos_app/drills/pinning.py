"""From a takeover of a real task to the case that reproduces it. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from chaos_app.drills.cells import Cell, cells
from chaos_app.drills.names import Fault, Klass
from tasks_app.record.reducing_calls import Fact
from tasks_app.timeline.cause import Place, Standing, place_of

# Where the lost worker stood, by the state of the call that was open: row and position.
_ROWS = {
    "attempted": ("E04", "applied"),
    "unknown": ("E06", "after_receive"),
    "answered": ("E08", "before"),
    "intended": ("D03", "after"),
    "asked": ("A01", "after"),
    "approved": ("A03", "before"),
    "in doubt": ("C02", "before"),
    "started": ("E03", "in_flight"),
}
_WITHOUT_CALL = {
    "context.selected": ("D01", "after_receive"),
    "step.decided": ("D02", "after"),
    "slice.claimed": ("L03", "after"),
    "task.claimed_complete": ("F02", "before"),
    "evidence.observed": ("F01", "before"),
    "wait.started": ("C02", "before"),
    "checkpoint.advanced": ("C01", "after"),
}


def cell_of(facts: Sequence[Fact], lost: int) -> Cell:
    """Return the case that dies where the worker died whose loss is event ``lost``.

    An attempt without an answer may have arrived or not; the case with the effect done and its answer lost is taken,
    in which a wrong resume would repeat it. Raises ValueError where that event is no loss.
    """
    loss = next((fact for fact in facts if fact.seq == lost and fact.kind == "slice.lost"), None)
    if loss is None:
        raise ValueError(f"Event {lost} is no lost worker.")
    before = [fact for fact in facts if fact.seq < lost]
    place = place_of(before)
    name, standing = next(iter(place.calls.items()), ("", None))
    row, position = _where(place, standing)
    klass = _klass(before, name, standing)
    both = loss.data.get("seen") == "lease ran out"
    return _known(row, position, klass, Fault.KILL_BOTH if both else Fault.KILL)


def _where(place: Place, standing: Standing | None) -> tuple[str, str]:
    if standing is None:
        return _WITHOUT_CALL.get(place.last, ("L03", "after"))
    if standing.state == "attempted" and standing.under_approval:
        return "A06", "after"
    return _ROWS.get(standing.state, ("L03", "after"))


def _klass(facts: Sequence[Fact], name: str, standing: Standing | None) -> Klass:
    if standing is None or standing.effect_class not in {"keyed", "readable", "opaque"}:
        return Klass.KEYED
    planned = [fact for fact in facts if fact.kind == "call.intended" and fact.data["name"] == name]
    guarded = bool(planned and planned[-1].data.get("seen"))
    return Klass.PRECONDITION if guarded else Klass(standing.effect_class)


def _known(row: str, position: str, klass: Klass, fault: Fault) -> Cell:
    """Return the cell of the table, or one made like it where the table has no such fault there."""
    for cell in cells("full"):
        if (cell.row, cell.position, cell.klass, cell.fault) == (row, position, klass, Fault.KILL):
            return replace(cell, fault=fault)
    place = (row, position)
    workload = "asked" if row.startswith("A") else "act"
    return Cell(row=row, position=position, klass=klass, fault=fault, workload=workload, place=place, suite="full")
