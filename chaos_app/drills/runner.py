"""A run: discover, play the control, the planted bugs and the cases side by side, judge each, say what came of it."""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial

from chaos_app.drills import discover
from chaos_app.drills.case import Case
from chaos_app.drills.catalogue import BY_NAME, EFFECTS, WORKLOADS, Workload
from chaos_app.drills.cells import Cell, Seen
from chaos_app.drills.evidence import Control, Evidence
from chaos_app.drills.faults import engine_of, unbuilt
from chaos_app.drills.ground import Ground
from chaos_app.drills.journal import Journal, named
from chaos_app.drills.judge import Judgement, judge
from chaos_app.drills.left_out import LeftOut, cell_left, left_out
from chaos_app.drills.limits import TAKEOVER
from chaos_app.drills.naive import ACTS_FIRST, NOTES_FIRST
from chaos_app.drills.names import UNDECIDED, Fault, Klass
from chaos_app.drills.options import Options, are_drawn, chosen, is_core_alone, needed, selected, with_named
from chaos_app.drills.own import own_cells
from chaos_app.drills.permit import cases_allowed
from chaos_app.drills.planting import PLANTED
from chaos_app.drills.rows import ROWS
from chaos_app.drills.rules import rules_asked
from chaos_app.drills.testimony import evidence_of
from chaos_app.drills.unprotected import PLACES, Unprotected
from chaos_app.drills.versions import versions
from chaos_app.drills.watch import Watch
from chaos_app.drills.wide import ALONE, OF_SERVERS, WIDE, workers_ended

Key = tuple[str, Klass]
# A stopped process and whoever takes over from it are kept for seconds: few at once, or nobody is left to take over.
HOLDING, HOLDING_AT_ONCE = frozenset({Fault.ZOMBIE, Fault.HANG}), 3
# Cases of these wait most of the time, until nothing can arrive late any more: others are played beside them.
LOOKED_UP, FEW = frozenset({Klass.READABLE, Klass.PRECONDITION}), 4
STOPPED = "The run was stopped, or its time was over."


@dataclass(eq=False)
class Run:
    """One run on its ground."""

    ground: Ground
    options: Options
    journal: Journal
    say: Callable[[str], None]
    side_by_side: int
    found: dict[Key, tuple[Seen, ...]] = field(default_factory=dict)
    twins: dict[Key, Control] = field(default_factory=dict)
    evidence: list[Evidence] = field(default_factory=list)
    bugs: list[Evidence] = field(default_factory=list)
    caught: dict[tuple[str, Klass], Control] = field(default_factory=dict)
    skipped: list[LeftOut] = field(default_factory=list)
    unbuilt: list[LeftOut] = field(default_factory=list)
    own: Workload | None = None
    unsteady: tuple[LeftOut, ...] = ()
    bound: float = TAKEOVER
    stopped: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.watch, self.bugs_watch = Watch(self.ground.services.database_url), Watch(self.ground.bugs.url)
        self.watch.begin()
        self.bugs_watch.begin()
        self.pool = ThreadPoolExecutor(self.side_by_side, thread_name_prefix="case")
        self.holding = ThreadPoolExecutor(HOLDING_AT_ONCE, thread_name_prefix="holding")
        self.quick = ThreadPoolExecutor(max(self.side_by_side // 2, 1), thread_name_prefix="quick")
        self.wide = ThreadPoolExecutor(workers_ended(self.options.suite), thread_name_prefix="wide")
        self.versions = versions()
        self._lock = threading.Lock()
        self._again: list[Cell] = []  # what could not be told among the others
        self._kept: list[tuple[str, Evidence]] = []  # each try, and the name of its file
        self._done = self._of = 0

    # --- before the cases ---

    def discover(self) -> None:
        """Play each workload without a fault: once, or twice where the cases are drawn from what is passed."""
        waited = list(self.pool.map(self._twin, self._pairs()))
        if are_drawn(self.options):
            first = dict(self.found)
            waited += self.pool.map(self._twin, self._pairs())
            self.unsteady = discover.unsteady(first, self.found)
            self.found = discover.steady(first, self.found)
        self.journal.discovered(self.found)
        self.bound = max(self.bound, 3 * max(waited))

    def _pairs(self) -> list[tuple[Workload, Klass]]:
        """Which workloads are played, each with which class. Of a user's own: it, and what the planted bugs need."""
        beside = {(cell.workload, cell.klass) for cell in PLANTED.values()} if self.options.control else set()
        if self.own is not None:
            return [(self.own, self.own.classes[0]), *discover.wanted(WORKLOADS, beside)]
        named = needed(self.options)
        return discover.wanted(WORKLOADS, None if named is None else named | beside)

    def _wanted(self) -> list[Cell]:
        own = self.ground.own
        if own is None:
            return chosen(self.options, self.found)
        passages = self.found[own.target.name, own.target.klass]
        known = own_cells(own.target, passages, suite=self.options.suite)
        return selected(*with_named(known, self.options, {}, own=[own.target.name]))

    def workload(self, name: str) -> Workload:
        """Return a workload by its name."""
        return self.own if self.own is not None and self.own.name == name else BY_NAME[name]

    def _twin(self, pair: tuple[Workload, Klass]) -> float:
        """Play one workload without a fault (twice if it did not end as declared); return how long it waited."""
        workload, klass = pair
        for _ in range(2):
            case = Case(ground=self.ground, watch=self.watch, workload=workload, klass=klass)
            case.run()
            evidence = self._evidence(case)
            twin = discover.control_of(evidence)
            if twin.end == workload.end:
                break
            self.say(discover.unlike(evidence, twin.end))
            if workload is self.own:
                raise ValueError("No case of this target can be judged before it ends well by itself.")
        self.found[workload.name, klass] = discover.passages(case.post.crossed)
        self.twins[workload.name, klass] = twin
        return discover.longest_wait(evidence)

    def _control(self) -> list["Future[None]"]:
        """The executor that protects nothing, at the same places."""
        return [self.pool.submit(self._unprotected, at, klass) for at in PLACES for klass in EFFECTS]

    def _unprotected(self, at: tuple[str, str], klass: Klass) -> None:
        how = NOTES_FIRST if at[0] == "E02" else ACTS_FIRST
        case = Unprotected(ground=self.ground, watch=self.watch, workload=BY_NAME["act"], klass=klass, at=at, how=how)
        self.caught[at[0], klass] = case.play()

    def _planted(self) -> list["Future[None]"]:
        return [self.pool.submit(self._bug, name, cell) for name, cell in PLANTED.items()]

    def _bug(self, name: str, cell: Cell) -> None:
        engine = engine_of(cell)
        assert engine is not None
        for repeat in range(2):
            case = engine(
                ground=self.ground,
                watch=self.bugs_watch,
                workload=BY_NAME[cell.workload],
                klass=cell.klass,
                cell=cell,
                bug=name,
            )
            case.run()
            twin = self.twins[case.workload.name, case.klass]
            evidence = replace(self._evidence(case), repeat=repeat, controls=(twin,))
            if judge(evidence).is_violation:
                break
        self.journal.keep(f"{case.name}-{cell.id}", evidence)
        self.bugs.append(evidence)

    # --- the cases ---

    def play(self) -> None:
        """Play the cells of this launch; what cannot be played is left out with its reason."""
        wanted = self._wanted()
        cases_allowed(len(wanted))
        todo = [cell for cell in wanted if engine_of(cell) is not None]
        self.unbuilt = unbuilt(wanted)
        self._of = len(todo)
        self.journal.say(cells=[cell.id for cell in todo])
        self.journal.left_out([*self.left_out(), *self.unbuilt])
        # Beside the cases what is no part of the product: the control, the planted bugs.
        beside = [*self._planted(), *self._control()] if self.options.control else []
        beside += [self.holding.submit(self._cell, cell) for cell in todo if cell.fault in HOLDING]
        for cell in todo:
            if cell.fault not in WIDE | HOLDING:
                pool = self.pool if cell.klass in LOOKED_UP or self.side_by_side < FEW else self.quick
                beside.append(pool.submit(self._cell, cell))
        for one in beside:
            one.result()
        self._widely([cell for cell in todo if cell.fault in WIDE])
        self._play_again()
        self._finish(rules_asked(self.journal.folder / "evidence"))

    def _play_again(self) -> None:
        """Alone: on a busy machine a stopped process is ended before another has room to take over."""
        for cell in self._again:
            if self._is_over(cell):
                continue
            try:
                self._tell(*self._once(cell, 1))
            except Exception as error:
                self.skipped.append(cell_left(cell, f"The drill itself could not play it: {named(error)}"))

    def _is_over(self, cell: Cell) -> bool:
        """Whether nothing is begun any more; then the cell is left out."""
        over = self.stopped.is_set() or self.journal.is_asked_to_stop()
        if over:
            self.stopped.set()
            self.skipped.append(cell_left(cell, STOPPED))
        return over

    def _widely(self, cells: list[Cell]) -> None:
        """Play what reaches others too, one kind of fault after the other."""
        for fault in dict.fromkeys(cell.fault for cell in cells):
            mine = [cell for cell in cells if cell.fault == fault]
            if fault in ALONE:
                for cell in mine:
                    self._cell(cell)
                continue
            pool = self.pool if fault in OF_SERVERS else self.wide
            for _ in pool.map(self._cell, mine):
                pass

    def left_out(self) -> tuple[LeftOut, ...]:
        """Return the cells of the table that no suite runs; of a user's own target the table says none."""
        if self.own is not None:
            return self.unsteady
        if is_core_alone(self.options):
            return left_out(self.found, rows=[row for row in ROWS if row.core], walled=self.options.sandbox)
        found = self.found if needed(self.options) is None else None  # of named cells nothing else was looked for
        return (*left_out(found, walled=self.options.sandbox), *self.unsteady)

    def _cell(self, cell: Cell) -> None:
        if self._is_over(cell):
            return
        try:
            evidence, judged = self._once(cell, 0)
        except Exception as error:  # no case ends the others
            self._put_off(cell, named(error))
            return
        if judged.verdict in UNDECIDED:
            self._put_off(cell, f"{judged.verdict}: {judged.cause}")
            return
        self._tell(evidence, judged)

    def _put_off(self, cell: Cell, why: str) -> None:
        self.say(f"again  {cell.id}: {why}")
        self._again.append(cell)

    def _once(self, cell: Cell, repeat: int) -> tuple[Evidence, Judgement]:
        engine, workload = engine_of(cell), self.workload(cell.workload)
        assert engine is not None  # else it was left out before the run, with the reason
        case = engine(ground=self.ground, watch=self.watch, workload=workload, klass=cell.klass, cell=cell)
        case.told = partial(self.journal.progress, cell.id)
        case.run()
        evidence = replace(self._bounded(self._evidence(case)), repeat=repeat)
        name = f"{case.name}-{cell.id}"
        self.journal.keep(name, evidence)
        with self._lock:
            self._kept.append((name, evidence))
        return evidence, judge(evidence)

    def _bounded(self, evidence: Evidence) -> Evidence:
        """Bind a case to what the machine can do right now: how long its first worker took to come."""
        with self._lock:
            if evidence.cell.row[0] not in "BL":  # there the fault itself delays the first worker
                self.bound = max(self.bound, 3 * discover.longest_wait(evidence))
            return replace(evidence, expected=replace(evidence.expected, takeover_seconds=self.bound))

    def _evidence(self, case: Case) -> Evidence:
        cell = case.cell
        twin = self.twins.get((case.workload.name, case.klass)) if cell else None
        target = f" --target {self.options.target}" if case.own else ""
        target += " --sandbox" if self.options.sandbox else ""
        command = f"manage.py drill run{target} --cell {cell.id} --seed {self.options.seed}" if cell else ""
        case.takeover = self.bound
        return evidence_of(
            case,
            run=self.journal.about["run"],
            seed=self.options.seed,
            controls=(twin,) if twin else (),
            versions=self.versions,
            command=command,
        )

    def _finish(self, rules: Mapping[str, tuple[str, ...]]) -> None:
        self.evidence = [self._whole(name, one, rules) for name, one in self._kept]

    def _whole(self, name: str, evidence: Evidence, rules: Mapping[str, tuple[str, ...]]) -> Evidence:
        """Put beside a case the unprotected run of the same place, and what the resume rules said elsewhere."""
        control = self.caught.get((evidence.cell.row, evidence.cell.klass))
        controls = (*evidence.controls, control) if control is not None else evidence.controls
        whole = replace(evidence, controls=controls, rules=rules.get(f"{name}.json", ()))
        self.journal.keep(name, whole)
        return whole

    def _tell(self, evidence: Evidence, judged: Judgement) -> None:
        with self._lock:
            self._done += 1
            seconds = evidence.ended - evidence.began
            line = f"{self._done}/{self._of}  {judged.verdict:<12} {evidence.cell.id}  {seconds:.1f} s"
        self.say(line if judged.as_allowed else f"{line}\n    {judged.cause}")

    def close(self) -> None:
        """Stop looking."""
        self.stopped.set()
        self.watch.close()
        self.bugs_watch.close()
        for pool in (self.pool, self.quick, self.holding, self.wide):
            pool.shutdown(wait=False, cancel_futures=True)
