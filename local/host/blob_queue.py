"""Events on their way to a blob trigger. They outlive the process."""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path

from local.host.blob_paths import BlobPath

_SCHEMA = """
CREATE TABLE IF NOT EXISTS pending (
    id INTEGER PRIMARY KEY, function TEXT NOT NULL, container TEXT NOT NULL, blob TEXT NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0, due REAL NOT NULL);
CREATE TABLE IF NOT EXISTS poison (
    id INTEGER PRIMARY KEY, function TEXT NOT NULL, container TEXT NOT NULL, blob TEXT NOT NULL,
    tries INTEGER NOT NULL, reason TEXT NOT NULL, buried_at REAL NOT NULL);
CREATE INDEX IF NOT EXISTS pending_by_due ON pending (due, id);
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingBlob:
    """`tries` counts those that were begun, this one included, also when the host was killed in the middle."""

    id: int
    function: str
    path: BlobPath
    tries: int


class BlobQueue:
    """Each operation is on disk when it returns. What was taken and not settled is due again after a restart."""

    def __init__(self, file: Path) -> None:
        self._database = sqlite3.connect(file, isolation_level=None)
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=NORMAL")
        self._database.executescript(_SCHEMA)
        self._taken: set[int] = set()

    def close(self) -> None:
        self._database.close()

    def add(self, function: str, path: BlobPath) -> None:
        self._database.execute(
            "INSERT INTO pending (function, container, blob, due) VALUES (?, ?, ?, ?)",
            (function, path.container, path.name, time.time()),
        )

    def take(self) -> PendingBlob | None:
        """The longest due event that nobody has taken; None when there is none."""
        rows = self._database.execute(
            "SELECT id, function, container, blob, tries FROM pending WHERE due <= ? ORDER BY due, id",
            (time.time(),),
        )
        for number, function, container, blob, tries in rows:
            if number not in self._taken:
                self._taken.add(number)
                self._database.execute("UPDATE pending SET tries = tries + 1 WHERE id = ?", (number,))
                path = BlobPath(container=container, name=blob)
                return PendingBlob(id=number, function=function, path=path, tries=tries + 1)
        return None

    def settle(self, blob: PendingBlob) -> None:
        self._database.execute("DELETE FROM pending WHERE id = ?", (blob.id,))
        self._taken.discard(blob.id)

    def put_back(self, blob: PendingBlob, *, after_seconds: float, uncounted: bool = False) -> None:
        """Due again later; `uncounted` when this was no try."""
        tries = blob.tries - 1 if uncounted else blob.tries
        self._database.execute(
            "UPDATE pending SET due = ?, tries = ? WHERE id = ?",
            (time.time() + after_seconds, tries, blob.id),
        )
        self._taken.discard(blob.id)

    def bury(self, blob: PendingBlob, *, reason: str) -> None:
        """Keep it as poison, for somebody to look at."""
        row = (blob.function, blob.path.container, blob.path.name, blob.tries, reason, time.time())
        with self._database:
            self._database.execute("BEGIN")
            self._database.execute(
                "INSERT INTO poison (function, container, blob, tries, reason, buried_at) VALUES (?, ?, ?, ?, ?, ?)",
                row,
            )
            self._database.execute("DELETE FROM pending WHERE id = ?", (blob.id,))
        self._taken.discard(blob.id)
