"""Files: their bytes on disk, their records in SQLite. A file exists once its record does."""

import os
import secrets
from collections.abc import Set
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from local.simulator.clock import Clock
from local.simulator.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """`pending_reads`: how many more reads will call it pending. `lines`: None for result files."""

    id: str
    provider: str
    purpose: str
    filename: str
    bytes: int
    created_at: int
    expires_at: int | None = None
    lines: int | None = None
    pending_reads: int = 0
    batch_id: str | None = None

    @property
    def status(self) -> str:
        return "pending" if self.pending_reads else "processed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page[T]:
    items: list[T]
    has_more: bool


class Files:
    """All providers' files; one provider never sees another's."""

    def __init__(self, database: Database, clock: Clock, folder: Path) -> None:
        self._database = database
        self._clock = clock
        self._folder = folder
        self._decoder = msgspec.json.Decoder(StoredFile)
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, file_id: str) -> Path:
        return self._folder / file_id

    def pin(self, file_id: str, batch_id: str) -> None:
        """Keep the bytes for the batch, even if the file is deleted or lapses."""
        os.link(self.path(file_id), self.pinned(batch_id))

    def pinned(self, batch_id: str) -> Path:
        return self._folder / f"{batch_id}.input"

    def unpin(self, batch_id: str) -> None:
        self.pinned(batch_id).unlink(missing_ok=True)

    def sweep(self, *, keep: Set[str]) -> None:
        """At the start: remove what a process that died was about to make, and inputs of ended batches."""
        for part in self._folder.glob("*.part"):
            part.unlink()
        for pinned in self._folder.glob("*.input"):
            if pinned.stem not in keep:
                pinned.unlink()

    def incoming(self) -> Path:
        """Where an upload goes until it is complete; what a kill leaves there is swept at start."""
        return self._folder / f"{secrets.token_hex(12)}.part"

    def add(self, file: StoredFile) -> None:
        self._database.execute(
            "INSERT INTO files (id, provider, purpose, expires_at, record) VALUES (?, ?, ?, ?, ?)",
            [file.id, file.provider, file.purpose, file.expires_at, msgspec.json.encode(file)],
        )

    def get(self, provider: str, file_id: str) -> StoredFile | None:
        """None when there is no such file, or it has lapsed."""
        found = self._database.execute(
            "SELECT record FROM files WHERE provider = ? AND id = ?"
            " AND (expires_at IS NULL OR expires_at >= ?)",
            [provider, file_id, self._clock.now()],
        ).fetchone()
        return self._decoder.decode(found[0]) if found else None

    def read_status(self, file: StoredFile) -> StoredFile:
        """One look at the file: a pending one comes a read closer to being processed."""
        if file.pending_reads:
            later = replace(file, pending_reads=file.pending_reads - 1)
            self._database.execute(
                "UPDATE files SET record = ? WHERE id = ?", [msgspec.json.encode(later), file.id]
            )
        return file

    def page(
        self, provider: str, *, purpose: str | None, after: str | None, limit: int, newest_first: bool
    ) -> Page[StoredFile]:
        direction, compare = ("DESC", "<") if newest_first else ("ASC", ">")
        rows = self._database.execute(
            "SELECT record FROM files WHERE provider = ? AND (expires_at IS NULL OR expires_at >= ?)"
            " AND (? IS NULL OR purpose = ?)"
            f" AND (? IS NULL OR seq {compare} (SELECT seq FROM files WHERE id = ?))"
            f" ORDER BY seq {direction} LIMIT ?",
            [provider, self._clock.now(), purpose, purpose, after, after, limit + 1],
        ).fetchall()
        found = [self._decoder.decode(row[0]) for row in rows]
        return Page(items=found[:limit], has_more=len(found) > limit)

    def count_inputs(self, provider: str, *, with_expiry: bool) -> int:
        row = self._database.execute(
            "SELECT COUNT(*) FROM files WHERE provider = ? AND purpose = 'batch'"
            " AND (expires_at IS NOT NULL) = ? AND (expires_at IS NULL OR expires_at >= ?)",
            [provider, with_expiry, self._clock.now()],
        ).fetchone()
        return int(row[0])

    def delete(self, file: StoredFile) -> None:
        self._database.execute("DELETE FROM files WHERE id = ?", [file.id])
        self.path(file.id).unlink(missing_ok=True)

    def drop_lapsed(self) -> None:
        """Give the disk back; for callers a lapsed file is gone already."""
        rows = self._database.execute(
            "SELECT record FROM files WHERE expires_at < ?", [self._clock.now()]
        ).fetchall()
        for row in rows:
            self.delete(self._decoder.decode(row[0]))
