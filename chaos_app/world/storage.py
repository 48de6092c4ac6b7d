"""Storage: one SQLite file in WAL mode, used from the event loop's thread only."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# WAL with synchronous=NORMAL keeps every commit over a SIGKILL of the process, which is what drills do to it;
# only a power cut could lose the last ones.
SCHEMA = """
CREATE TABLE IF NOT EXISTS arrival (
    id INTEGER PRIMARY KEY, at REAL NOT NULL, system TEXT NOT NULL, operation TEXT NOT NULL, acts INTEGER NOT NULL,
    method TEXT NOT NULL, path TEXT NOT NULL, key TEXT, business_key TEXT, call TEXT, attempt INTEGER,
    arguments TEXT NOT NULL, fault TEXT, fault_id INTEGER, status INTEGER, ended TEXT, ended_at REAL,
    replayed INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS effect (
    id INTEGER PRIMARY KEY, arrival INTEGER NOT NULL, at REAL NOT NULL, system TEXT NOT NULL, operation TEXT NOT NULL,
    key TEXT, business_key TEXT, call TEXT, item TEXT, reference TEXT NOT NULL, arguments TEXT NOT NULL,
    planted INTEGER NOT NULL DEFAULT 0, late INTEGER NOT NULL DEFAULT 0);
CREATE INDEX IF NOT EXISTS arrival_key ON arrival (key);
CREATE INDEX IF NOT EXISTS effect_key ON effect (key);
CREATE INDEX IF NOT EXISTS effect_arrival ON effect (arrival);
CREATE VIEW IF NOT EXISTS arrival_applied AS
    SELECT a.*, (SELECT min(e.at) FROM effect e WHERE e.arrival = a.id AND NOT e.planted) AS applied_at FROM arrival a;
CREATE TABLE IF NOT EXISTS key_memory (
    system TEXT NOT NULL, key TEXT NOT NULL, digest TEXT NOT NULL, at REAL NOT NULL,
    status INTEGER, body TEXT, PRIMARY KEY (system, key));
CREATE TABLE IF NOT EXISTS fault (
    id INTEGER PRIMARY KEY, at REAL NOT NULL, plan TEXT NOT NULL, armed INTEGER NOT NULL DEFAULT 1,
    seen INTEGER NOT NULL DEFAULT 0, fired INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS fault_log (
    id INTEGER PRIMARY KEY, at REAL NOT NULL, fault_id INTEGER, arrival INTEGER NOT NULL, what TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS ticket (
    id INTEGER PRIMARY KEY, at REAL NOT NULL, key TEXT, title TEXT NOT NULL, body TEXT NOT NULL, service TEXT NOT NULL,
    severity TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'open', planted INTEGER NOT NULL DEFAULT 0);
CREATE INDEX IF NOT EXISTS ticket_key ON ticket (key);
CREATE TABLE IF NOT EXISTS comment (
    id INTEGER PRIMARY KEY, ticket INTEGER NOT NULL, at REAL NOT NULL, key TEXT, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS payment (
    id INTEGER PRIMARY KEY, at REAL NOT NULL, payee TEXT NOT NULL, cents INTEGER NOT NULL, currency TEXT NOT NULL,
    memo TEXT NOT NULL, planted INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS notice (
    id INTEGER PRIMARY KEY, at REAL NOT NULL, key TEXT, digest TEXT NOT NULL, room TEXT NOT NULL, text TEXT NOT NULL,
    planted INTEGER NOT NULL DEFAULT 0);
CREATE INDEX IF NOT EXISTS notice_key ON notice (key);
CREATE TABLE IF NOT EXISTS job (
    id INTEGER PRIMARY KEY, at REAL NOT NULL, key TEXT, kind TEXT NOT NULL, seconds REAL NOT NULL,
    outcome TEXT NOT NULL, arguments TEXT NOT NULL, result TEXT NOT NULL, planted INTEGER NOT NULL DEFAULT 0);
CREATE INDEX IF NOT EXISTS job_key ON job (key);
CREATE TABLE IF NOT EXISTS stock (sku TEXT PRIMARY KEY, reads INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS file (
    name TEXT PRIMARY KEY, at REAL NOT NULL, key TEXT, size INTEGER NOT NULL, digest TEXT NOT NULL,
    media_type TEXT NOT NULL);
"""

Row = dict[str, Any]


class Storage:
    """One connection; every statement commits by itself unless it stands in ``transaction``."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.row_factory = sqlite3.Row
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._db.executescript(SCHEMA)

    def run(self, sql: str, *values: Any) -> int:
        """Run one statement; the id of the inserted row, if it inserted one."""
        return self._db.execute(sql, values).lastrowid or 0

    def change(self, sql: str, *values: Any) -> int:
        """Run one statement; the number of rows that it changed."""
        return self._db.execute(sql, values).rowcount

    def rows(self, sql: str, *values: Any) -> list[Row]:
        """Every row of a query."""
        return [dict(row) for row in self._db.execute(sql, values)]

    def row(self, sql: str, *values: Any) -> Row | None:
        """The first row of a query."""
        found = self._db.execute(sql, values).fetchone()
        return dict(found) if found else None

    def select(self, table: str, where: str = "1", *values: Any, end: str = "ORDER BY id") -> list[Row]:
        """Rows of a table. ``table``, ``where`` and ``end`` are written in this package, never by a request."""
        return self.rows(f"SELECT * FROM {table} WHERE {where} {end}", *values)  # noqa: S608

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing. Nothing may be awaited inside: the connection is shared by every request."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def close(self) -> None:
        """Close the file; what was committed stays."""
        self._db.close()
