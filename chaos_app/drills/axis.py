"""The picture of a case: the record on the left, the outside count on the right, one time axis, a lane per worker.

Pure geometry: rows of equal height in the order of time, lines between rows. A duplicate is a line that forks; a loss
is an attempt with no partner. Pages and the downloaded report draw the same picture.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from chaos_app.drills.evidence import Arrival, Control, Effect, Evidence, Witness
from chaos_app.drills.landed import mark_of
from chaos_app.drills.names import Stage
from chaos_app.drills.rows import BY_ID
from chaos_app.drills.tally import facts_of
from chaos_app.drills.workers import Worker, workers_of
from tasks_app.record.reducing_calls import Fact
from tasks_app.timeline.words import words

ROW = 28  # pixels
LANE, MARGIN, GUTTER = 16, 12, 190
QUIET = frozenset({"context.selected", "evidence.observed", "task.claimed_complete"})


@dataclass(frozen=True, kw_only=True)
class Row:
    """One moment. ``side``: record, outside, fault or late; ``seconds`` since the first row."""

    seconds: float
    side: str
    text: str
    tone: str = ""
    seq: int | None = None
    epoch: int | None = None


@dataclass(frozen=True, kw_only=True)
class Lane:
    """One lease of one worker: a bar from its claim to its end. ``label``: the worker's letter in the picture."""

    number: int
    worker: str
    label: str
    x: int
    y1: int
    y2: int
    is_lost: bool


@dataclass(frozen=True, kw_only=True)
class Link:
    """A line from an attempt to what the outside counted of it. ``kind``: effect, arrival, fork, none."""

    x1: int
    y1: int
    x2: int
    y2: int
    kind: str


@dataclass(frozen=True, kw_only=True)
class Axis:
    """The whole picture. ``width`` and ``height`` of the drawing between the columns, in pixels.

    ``workers``: who the letters are.
    """

    title: str
    rows: tuple[Row, ...]
    left: str = "In the record"
    workers: tuple[Worker, ...] = ()
    lanes: tuple[Lane, ...] = ()
    links: tuple[Link, ...] = ()
    width: int = GUTTER
    row_height: int = ROW

    @property
    def height(self) -> int:
        """As tall as the rows."""
        return len(self.rows) * ROW


@dataclass(slots=True)
class _Entry:
    at: float
    row: Row
    fact: Fact | None = None
    arrival: Arrival | None = None
    effects: list[Effect] = field(default_factory=list)


def axis_of(evidence: Evidence) -> Axis:
    """Return the picture of a case."""
    workers = workers_of(evidence)
    mine = [*_record(evidence, workers), *_outside(evidence.witness), *_faults(evidence, workers)]
    return _drawn("What happened", sorted(mine, key=lambda entry: entry.at), workers)


def axis_of_control(control: Control) -> Axis:
    """Return the picture of an unprotected run: what it did, beside what the outside counted."""
    notes = [_Entry(note.at, Row(seconds=0, side="record", text=f"{note.who}: {note.what}")) for note in control.notes]
    entries = sorted([*notes, *_outside(control.witness)], key=lambda entry: entry.at)
    drawn = _drawn("The same, without protection", entries)
    links = tuple(_unrecorded(entries, drawn.width))
    again = {link.y2 for link in links if link.kind == "fork"}
    rows = [
        replace(row, tone="bad", text=f"{row.text}, once more") if _middle(at) in again else row
        for at, row in enumerate(drawn.rows)
    ]
    return replace(drawn, rows=tuple(rows), links=links, left="What it did")


def _unrecorded(entries: Sequence[_Entry], width: int) -> Iterator[Link]:
    """Join each effect with the last thing that an executor without a record did before it; a second one forks."""
    seen, began = 0, 0
    for at, entry in enumerate(entries):
        if entry.row.side == "record":
            began = at
        elif any(not effect.planted for effect in entry.effects):
            seen += 1
            kind = "fork" if seen > 1 else "effect"
            yield Link(x1=MARGIN, y1=_middle(began), x2=width - 6, y2=_middle(at), kind=kind)


def _record(evidence: Evidence, workers: Sequence[Worker]) -> Iterator[_Entry]:
    for record in evidence.tasks:
        for fact in facts_of(record):
            if fact.kind in QUIET:
                continue
            line = words(fact.kind, fact.data, fact.actor)
            whose = "" if record.role == "task" else f"{record.role}: "
            text = f"{whose}{_as_worker(fact, workers)}{line}"
            row = Row(seconds=0, side="record", text=text, tone=line.tone, seq=fact.seq, epoch=fact.epoch)
            yield _Entry(fact.at.timestamp(), row, fact=fact)
        for late in record.late_writes:
            said = f"Late write refused: {late.kind}, presented lease no. {late.presented_epoch}"
            yield _Entry(late.at, Row(seconds=0, side="late", text=said, tone="bad", epoch=late.presented_epoch))


def _as_worker(fact: Fact, workers: Sequence[Worker]) -> str:
    """Say which worker takes or loses the task: "Worker B: "; "" for every other event."""
    if fact.kind == "slice.claimed":
        who = _worker_of(fact, workers)
    else:
        lost = fact.data.get("lost_epoch") if fact.kind == "slice.lost" else None
        mine = (one for one in workers if lost in one.leases and one.name == fact.data.get("worker"))
        who = next(mine, None) if lost is not None else None
    return f"Worker {who.label}: " if who else ""


def _worker_of(claim: Fact, workers: Sequence[Worker]) -> Worker | None:
    who = str(claim.data.get("worker", "")), claim.data.get("pid")
    return next((one for one in workers if (one.name, one.pid) == who), None)


def _outside(witness: Witness) -> Iterator[_Entry]:
    of_arrival: dict[int | None, list[Effect]] = {}
    for effect in witness.effects:
        of_arrival.setdefault(effect.arrival, []).append(effect)
    told = {arrival.id for arrival in witness.arrivals}
    for arrival in witness.arrivals:
        effects = of_arrival.get(arrival.id) or [e for e in witness.effects if e.arrival is None and _fits(e, arrival)]
        yield _Entry(arrival.at, _arrived(arrival, effects), arrival=arrival, effects=effects)
    for effect in witness.effects:
        alone = effect.arrival is not None and effect.arrival not in told
        if alone or (effect.arrival is None and not any(_fits(effect, arrival) for arrival in witness.arrivals)):
            yield _Entry(
                effect.at, Row(seconds=0, side="outside", text=_effect_words(effect), tone="ok"), effects=[effect]
            )


def _fits(effect: Effect, arrival: Arrival) -> bool:
    return arrival.applied_at is not None and arrival.key == effect.key and abs(arrival.applied_at - effect.at) < 0.001


def _arrived(arrival: Arrival, effects: Sequence[Effect]) -> Row:
    what = f"{arrival.system}: "
    if not arrival.acts:
        return Row(seconds=0, side="outside", text=f"{what}looked at ({arrival.operation})", tone="idle")
    if effects:
        made = ", ".join(effect.reference for effect in effects)
        planted = " (planted by the drill)" if any(effect.planted for effect in effects) else ""
        late = ", late" if any(effect.late for effect in effects) else ""
        return Row(seconds=0, side="outside", text=f"{what}EFFECT {made}{late}{planted}{_ending(arrival)}", tone="ok")
    again = "first answer given again, no new effect" if arrival.replayed else "arrived, no effect"
    return Row(seconds=0, side="outside", text=f"{what}{again}{_ending(arrival)}", tone="idle")


def _ending(arrival: Arrival) -> str:
    return ", answer never arrived" if arrival.ended == "cut" else ""


def _effect_words(effect: Effect) -> str:
    return f"{effect.system}: EFFECT {effect.reference}{' (planted by the drill)' if effect.planted else ''}"


def _faults(evidence: Evidence, workers: Sequence[Worker]) -> Iterator[_Entry]:
    for log in evidence.faults:
        landed = mark_of(log, Stage.LANDED) or mark_of(log, Stage.FIRED) or mark_of(log, Stage.FAILED)
        if landed:
            at = BY_ID[log.row].title if log.row in BY_ID else f"{log.row} {log.position}"
            whom = next((f" of worker {one.label}" for one in workers if one.pid and one.pid == landed.pid), "")
            ended = f": {landed.exit_status}" if landed.exit_status and not whom else ""  # a worker's stands below
            said = f"{log.fault}{whom}: {at}{ended}"
            yield _Entry(landed.at, Row(seconds=0, side="fault", text=said, tone="bad", epoch=landed.epoch))


def _drawn(title: str, entries: Sequence[_Entry], workers: tuple[Worker, ...] = ()) -> Axis:
    start = entries[0].at if entries else 0.0
    rows = [replace(entry.row, seconds=entry.at - start) for entry in entries]
    lanes = list(_lanes(entries, workers))
    width = max(GUTTER, MARGIN * 2 + LANE * len(lanes) + 70)
    links = tuple(_links(entries, lanes, width))
    return Axis(title=title, rows=tuple(rows), workers=workers, lanes=tuple(lanes), links=links, width=width)


def _middle(at: int) -> int:
    return at * ROW + ROW // 2


def _lanes(entries: Sequence[_Entry], workers: Sequence[Worker]) -> Iterator[Lane]:
    claims = [(at, entry.fact) for at, entry in enumerate(entries) if entry.fact and entry.fact.kind == "slice.claimed"]
    for number, (at, claim) in enumerate(claims):
        ends = [later for later in range(at + 1, len(entries)) if _ends(entries[later], claim.epoch)]
        end = ends[0] if ends else len(entries) - 1
        who = _worker_of(claim, workers)
        yield Lane(
            number=claim.epoch or 0,
            worker=str(claim.data.get("worker", "")),
            label=who.label if who else "",
            x=MARGIN + LANE * number,
            y1=_middle(at),
            y2=_middle(end),
            is_lost=bool(ends) and entries[end].row.side == "fault",
        )


def _ends(entry: _Entry, epoch: int | None) -> bool:
    if entry.row.side == "fault":
        return entry.row.epoch == epoch
    fact = entry.fact
    if fact is None:
        return False
    return (fact.kind == "slice.released" and fact.epoch == epoch) or (
        fact.kind == "slice.lost" and fact.data.get("lost_epoch") == epoch
    )


def _links(entries: Sequence[_Entry], lanes: Sequence[Lane], width: int) -> Iterator[Link]:
    """Join each attempt with its arrivals: by call and attempt number, otherwise with the last attempt before it."""
    attempts = {
        (str(entry.fact.data["name"]), int(entry.fact.data["attempt"])): at
        for at, entry in enumerate(entries)
        if entry.fact and entry.fact.kind == "call.attempted"
    }
    effects: dict[str, int] = {}
    partners: set[tuple[str, int]] = set()
    for at, entry in enumerate(entries):
        arrival = entry.arrival
        if arrival is None or not arrival.acts:
            continue
        name = (arrival.call or "").partition("/")[2]
        whose = _attempt_of(name, arrival.attempt, at, attempts)
        if whose is None:
            continue
        partners.add(whose)
        real = [effect for effect in entry.effects if not effect.planted and effect.item is None]
        effects[name] = effects.get(name, 0) + len(real)
        kind = ("fork" if effects[name] > 1 else "effect") if real else "effect" if entry.effects else "arrival"
        yield Link(
            x1=_edge(entries, attempts[whose], lanes),
            y1=_middle(attempts[whose]),
            x2=width - 6,
            y2=_middle(at),
            kind=kind,
        )
    for alone in attempts.keys() - partners:
        x, y = _edge(entries, attempts[alone], lanes), _middle(attempts[alone])
        yield Link(x1=x, y1=y, x2=x + 26, y2=y, kind="none")


def _attempt_of(name: str, number: int | None, at: int, attempts: dict[tuple[str, int], int]) -> tuple[str, int] | None:
    if number is not None and (name, number) in attempts:
        return name, number
    before = [key for key, row in attempts.items() if key[0] == name and row < at]
    return max(before, key=lambda key: attempts[key]) if before else None


def _edge(entries: Sequence[_Entry], at: int, lanes: Sequence[Lane]) -> int:
    fact = entries[at].fact
    mine = [lane.x for lane in lanes if fact is not None and lane.number == fact.epoch]
    return mine[0] if mine else MARGIN
