"""One SQLite file holds everything the simulator has acknowledged, so that a kill loses nothing."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

SCHEMA = """
CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS files (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL, provider TEXT NOT NULL,
    purpose TEXT NOT NULL, expires_at INTEGER, record BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS batches (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL, provider TEXT NOT NULL,
    status TEXT NOT NULL, record BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS batches_by_status ON batches (status);
CREATE TABLE IF NOT EXISTS rules (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, rule BLOB NOT NULL, used INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS quotas (
    provider TEXT NOT NULL, model TEXT NOT NULL, quota BLOB NOT NULL, PRIMARY KEY (provider, model));
CREATE TABLE IF NOT EXISTS journal (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, provider TEXT NOT NULL, operation TEXT NOT NULL,
    batch_id TEXT, entry BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS journal_by_operation ON journal (operation);
CREATE TABLE IF NOT EXISTS events (seq INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT, event BLOB NOT NULL);
"""


class Database:
    """Used by the event loop's thread only. A transaction never spans an `await`."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        # The promise is to survive the death of the process, not of the machine: no fsync a commit.
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.executescript(SCHEMA)
        self._depth = 0

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; inside another transaction it is part of that one."""
        if self._depth:
            yield
            return
        self._connection.execute("BEGIN IMMEDIATE")
        self._depth = 1
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        else:
            self._connection.execute("COMMIT")
        finally:
            self._depth = 0

    def execute(self, sql: str, values: Iterable[object] = ()) -> sqlite3.Cursor:
        return self._connection.execute(sql, tuple(values))

    def close(self) -> None:
        self._connection.close()
