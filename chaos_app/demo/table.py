"""The report of ``demo --once`` as people read it: the deaths, then intended beside found, then one sentence."""

from collections.abc import Sequence
from itertools import chain

from chaos_app.demo.deaths import Death
from chaos_app.demo.story import Told
from chaos_app.demo.verdict import Row, ghosts, levels, problems, rows, spread, takeover
from chaos_app.injector.killing import Victim
from chaos_app.injector.plan import Plan, Stage
from tasks_app.sandbox.levels import NAMESPACES, NONE, PROCESS

Line = Sequence[str]
WALLS = {
    NAMESPACES: "a sandbox with walls of its own",
    PROCESS: "a process of its own, without walls, which this machine does not give",
    NONE: "the worker itself",
}


def report(told: Told) -> tuple[list[str], bool]:
    """Return the lines to print, and whether all is well."""
    found = rows(told.incidents, told.statuses, told.calls, told.effects)
    takeovers = [(plan, takeover(plan, told.events.get(death.incident, []))) for death, plan in told.plans]
    against = problems(found, takeovers, ghosts(told.effects, told.incidents), told.disagreements)
    lines = ["", "Deaths", *_columns(_deaths(told)), "", "Effects", *_columns(_effects(found)), ""]
    lines += [*_takeovers(told), *_sandboxes(told), *_people(told), ""]
    return [*lines, *_sentence(told, found, against)], not against


def _deaths(told: Told) -> list[Line]:
    head: Line = ("incident", "boundary", "position", "call", "class", "killed", "landed", "next epoch after")
    return [head, *(_death(told, death, plan) for death, plan in told.plans)]


def _death(told: Told, death: Death, plan: Plan) -> Line:
    seconds = takeover(plan, told.events.get(death.incident, [])) if plan.stage == Stage.LANDED else None
    name = f"{death.boundary.value} {death.boundary.name.lower().replace('_', ' ')}"
    landed = "yes" if plan.stage == Stage.LANDED else "NO"
    after = f"{seconds:.2f} s" if seconds is not None else "never"
    return (
        *(death.incident, name, death.position.value, death.call or "-", death.of),
        *(death.victim.value, landed, after),
    )


def _effects(found: Sequence[Row]) -> list[Line]:
    head: Line = ("incident", "task", "effect", "intended", "found outside", "verdict")
    return [head, *(_effect(row) for row in found)]


def _effect(row: Row) -> Line:
    where = f"{row.found}  {', '.join(row.references)}".strip()
    return (row.incident, row.status, row.tool, "1", where, row.verdict)


def _columns(lines: Sequence[Line]) -> list[str]:
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    rule = ["-" * width for width in widths]
    ordered = [lines[0], rule, *lines[1:]]
    return ["  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)) for line in ordered]


def _takeovers(told: Told) -> list[str]:
    proven: list[float] = []
    timed: list[float] = []
    for death, plan in told.plans:
        seconds = takeover(plan, told.events.get(death.incident, [])) if plan.stage == Stage.LANDED else None
        if seconds is not None:
            (timed if death.victim == Victim.WORKER_AND_KEEPER else proven).append(seconds)
    return [
        f"Takeover after a death that a keeper proved: {spread(proven)}",
        f"Takeover after worker and keeper died together (the lease runs out): {spread(timed)}",
    ]


def _sandboxes(told: Told) -> list[str]:
    counted = levels(chain.from_iterable(told.events.values()))
    return [f"Answers of tools: {count}, each from {WALLS[name]}." for name, count in counted.most_common()]


def _people(told: Told) -> list[str]:
    settled = "; ".join(told.settled) or "none"
    return [f"Approved by silas through the API: {told.approved} calls. Settled by looking outside: {settled}."]


def _sentence(told: Told, found: Sequence[Row], against: Sequence[str]) -> list[str]:
    landed = [(death, plan) for death, plan in told.plans if plan.stage == Stage.LANDED]
    places = {death.boundary for death, _ in landed}
    killed = (
        f"{len(landed)} of {len(told.plans)} planned kills landed, at {len(places)} boundaries, in {told.seconds:.0f} s"
    )
    if not against:
        tasks = len(told.incidents)
        return [f"All {tasks} tasks completed by their criteria, {len(found)} of {len(found)} effects once. {killed}."]
    return [f"NOT as it should be. {killed}.", *(f"  - {problem}" for problem in against)]
