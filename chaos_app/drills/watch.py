"""One look at all running cases, ten times a second: how their tasks and approvals stand in the record."""

import threading
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import dict_row

from tasks_app.status import TERMINAL, Status

EVERY = 0.1  # seconds
YOUNG = 300.0  # seconds; no case lasts so long, and what is older need not be searched ten times a second
CASE_OF = "COALESCE(t.labels->>'drill', p.labels->>'drill', t.intent->>'case')"  # of a child: as its parent's
TASKS = f"""SELECT t.id, {CASE_OF} AS case, t.status, t.head_seq, t.lease_nonce, t.lease_epoch, t.wake_at,
    t.wait, t.open_wait, t.parent_id, t.signals,
    (SELECT count(*) FROM tasks_app_latewrite l WHERE l.stream = t.id)
    + (SELECT count(*) FROM tasks_app_event e WHERE e.stream = t.id AND e.kind = 'call.late_receipt') AS late
    FROM tasks_app_task t LEFT JOIN tasks_app_task p ON p.id = t.parent_id
    WHERE t.id > %s AND {CASE_OF} = ANY(%s)"""  # noqa: S608
APPROVALS = "SELECT id, task_id, name, status FROM approvals_app_approvalrequest WHERE task_id = ANY(%s) ORDER BY id"
PARKED = frozenset({Status.IN_DOUBT, Status.UNVERIFIED, Status.QUARANTINED, Status.PAUSED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A task as it was at the last look."""

    id: UUID
    case: str
    status: str
    head_seq: int
    lease_nonce: UUID | None
    lease_epoch: int
    wake_at: datetime | None
    wait: dict[str, Any] | None
    open_wait: dict[str, Any] | None
    parent_id: UUID | None
    signals: list[Any]
    late: int
    approvals: tuple[dict[str, Any], ...] = ()

    @property
    def ended(self) -> bool:
        """Whether it is over."""
        return self.status in TERMINAL

    @property
    def rests(self) -> bool:
        """Whether nothing of it will move by itself."""
        if self.lease_nonce is not None:
            return False
        return self.ended or self.status in PARKED or (self.wake_at is None and self.status == Status.WAITING)

    @property
    def awaits(self) -> str:
        """What an agent's open wait is for: signal, child, timer, or nothing."""
        return str((self.open_wait or {}).get("kind", "")) if self.status == Status.WAITING else ""

    def asked(self, status: str = "requested") -> list[dict[str, Any]]:
        """Return the approvals that stand so."""
        return [one for one in self.approvals if one["status"] == status]


def since(at: float) -> UUID:
    """Return the least id (version 7) that a task of that moment or later can have; ``at``: seconds since 1970."""
    return UUID(int=int(at * 1000) << 80)


@dataclass(eq=False)
class Watch:
    """Looks while it is ``open``; a case asks for its own tasks."""

    url: str
    _cases: set[str] = field(default_factory=set)
    _seen: dict[str, list[Seen]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _over: threading.Event = field(default_factory=threading.Event)

    def begin(self) -> None:
        """Start to look."""
        threading.Thread(target=self._run, name="watch", daemon=True).start()

    def attend(self, case: str) -> None:
        """Look at the tasks of this case too."""
        with self._lock:
            self._cases.add(case)

    def leave(self, case: str) -> None:
        """Look at them no more."""
        with self._lock:
            self._cases.discard(case)
            self._seen.pop(case, None)

    def of(self, case: str) -> list[Seen]:
        """Return the tasks of a case as they were a moment ago, the main one first."""
        with self._lock:
            return list(self._seen.get(case, []))

    def close(self) -> None:
        """Stop."""
        self._over.set()

    def _run(self) -> None:
        while not self._over.is_set():
            try:
                with psycopg.connect(self.url, autocommit=True, row_factory=dict_row) as connection:
                    while not self._over.wait(EVERY):
                        with self._lock:
                            cases = set(self._cases)
                        if cases:
                            self._look(connection, cases)
            except psycopg.Error:  # a case has ended the server, or the connection: it comes back
                time.sleep(EVERY)

    def _look(self, connection: psycopg.Connection[dict[str, Any]], cases: Collection[str]) -> None:
        tasks = connection.execute(TASKS, [since(time.time() - YOUNG), list(cases)]).fetchall()
        asked = connection.execute(APPROVALS, [[task["id"] for task in tasks]]).fetchall()
        found: dict[str, list[Seen]] = {}
        for task in sorted(tasks, key=lambda task: (task["parent_id"] is not None, task["id"])):
            mine = tuple(one for one in asked if one["task_id"] == task["id"])
            found.setdefault(task["case"], []).append(Seen(**task, approvals=mine))
        with self._lock:
            self._seen = {case: seen for case, seen in found.items() if case in self._cases}
