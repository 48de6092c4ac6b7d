"""Where every process of the drill asks whether it may go on: crossings are noted, and who is awaited is held.

It runs in the controller. A process that waits here does nothing at all: whatever is done to it is done at exactly
this place.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from chaos_app.drills.lines import listen
from chaos_app.injector.answering import reports_answer
from chaos_app.injector.report import GO, Report
from core.boundaries import Boundary, Position

HELD_AT_MOST = 120.0  # seconds; longer than any case lasts


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossed:
    """One passage of one process; ``at`` in seconds since 1970 by this machine's clock."""

    at: float
    report: Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A place to wait for: the ``hit``-th passage of a case over (boundary, position), of a call where one is named.

    ``after``: only passages of later epochs than this count (a second fault, after the takeover).
    """

    boundary: Boundary
    position: Position
    call: str | None = None
    hit: int = 1
    after: int | None = None

    def fits(self, report: Report) -> bool:
        """Whether a report is from there."""
        if (report.boundary, report.position) != (self.boundary, self.position):
            return False
        if self.call is not None and report.call != self.call:
            return False
        return self.after is None or (report.epoch is not None and report.epoch > self.after)


@dataclass(eq=False, slots=True, kw_only=True)
class Hold:
    """A place that a case waits for, and the process that waits there once ``reached``."""

    point: Point
    seen: int = 0
    reached: threading.Event = field(default_factory=threading.Event)
    go: threading.Event = field(default_factory=threading.Event)
    report: Report | None = None
    at: float = 0.0
    answer: bytes = GO  # what the process is told once it may go on
    confirmed: threading.Event = field(default_factory=threading.Event)
    confirmation: Report | None = None  # of one that was told something else: it reports again from there

    @property
    def where(self) -> Report:
        """The report of the process that waits."""
        assert self.report is not None
        return self.report


@dataclass(eq=False, slots=True, kw_only=True)
class Post:
    """What the barrier knows of one case. ``begun``: called once for each of its tasks, before anything is done."""

    name: str
    begun: Callable[[UUID], None] = lambda task: None
    holds: list[Hold] = field(default_factory=list)
    crossed: list[Crossed] = field(default_factory=list)
    tasks: list[UUID] = field(default_factory=list)

    def last(self, task: UUID) -> Report | None:
        """Return the newest crossing under the task's newest lease: whoever runs it."""
        under = [one.report for one in self.crossed if one.report.task == task and one.report.epoch is not None]
        return max(reversed(under), key=lambda report: report.epoch or 0, default=None)


class Barrier:
    """The socket that all ask. ``case_of`` says to which case a task belongs (None: to none)."""

    def __init__(self, path: Path, *, case_of: Callable[[UUID], str | None]) -> None:
        self.path = path
        self._case_of = case_of
        self._posts: dict[str, Post] = {}
        self._tasks: dict[UUID, Post | None] = {}
        self._people: dict[int, str] = {}
        self._locks: defaultdict[UUID, threading.Lock] = defaultdict(threading.Lock)
        self._lock = threading.Lock()
        self._server = listen(path)
        reports_answer(self._server, self._take, name="barrier")

    def post(self, name: str, begun: Callable[[UUID], None] = lambda task: None) -> Post:
        """Begin to attend to a case."""
        post = self._posts[name] = Post(name=name, begun=begun)
        return post

    def arm(self, post: Post, point: Point) -> Hold:
        """Wait for a place."""
        hold = Hold(point=point)
        with self._lock:
            post.holds.append(hold)
        return hold

    def leave(self, post: Post) -> None:
        """Hold nobody of this case any more."""
        with self._lock:
            holds, post.holds = post.holds, []
        for hold in holds:
            hold.go.set()

    def person(self, pid: int, case: str) -> None:
        """A process is about to do something for a case (what people do has no task yet)."""
        self._people[pid] = case

    def _take(self, report: Report) -> bytes:
        post = self._post_of(report)
        if post is None:
            return GO
        at = time.time()
        with self._lock:
            if self._is_confirmation(post, report):
                return GO
            post.crossed.append(Crossed(at=at, report=report))
            hold = self._held(post, report)
        if hold is not None:
            hold.report, hold.at = report, at
            hold.reached.set()
            hold.go.wait(HELD_AT_MOST)
            return hold.answer
        return GO

    def _is_confirmation(self, post: Post, report: Report) -> bool:
        for hold in post.holds:
            held = hold.report
            if hold.answer == GO or held is None or hold.confirmed.is_set() or held.pid != report.pid:
                continue
            hold.confirmation = report
            hold.confirmed.set()
            return True
        return False

    def _held(self, post: Post, report: Report) -> Hold | None:
        for hold in post.holds:
            if hold.report is None and hold.point.fits(report):
                hold.seen += 1
                if hold.seen == hold.point.hit:
                    return hold
        return None

    def _post_of(self, report: Report) -> Post | None:
        if report.task is None:
            return self._posts.get(self._people.get(report.pid, ""))
        with self._lock:
            lock = self._locks[report.task]
        with lock:
            if report.task not in self._tasks:
                self._meet(report.task, report.pid)
            return self._tasks[report.task]

    def _meet(self, task: UUID, pid: int) -> None:
        name = self._people.get(pid) or self._case_of(task)
        post = self._posts.get(name or "")
        if post is not None:
            post.tasks.append(task)
            post.begun(task)
        self._tasks[task] = post

    def close(self) -> None:
        """Answer nobody any more; whoever asks from now on passes."""
        for post in list(self._posts.values()):
            self.leave(post)
        self._server.close()
        self.path.unlink(missing_ok=True)
