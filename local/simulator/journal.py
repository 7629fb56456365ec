"""Every call the simulator has received, in order, kept in SQLite and bounded."""

from datetime import UTC, datetime

import msgspec

from local.simulator.clock import Clock
from local.simulator.database import Database
from local.simulator.failures import Json

MAX_ENTRIES = 200_000
TRIM_EVERY = 1_000


class Journal:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def add(self, entry: Json) -> None:
        """Part of the caller's transaction, where there is one. Adds the times.

        `at` is the machine's, so that the pace of calls can be read from it; `clock` the simulator's.
        """
        now = self._clock.now()
        times = {"at": _rfc3339(now - self._clock.offset), "clock": _rfc3339(now)}
        sql = "INSERT INTO journal (provider, operation, batch_id, entry) VALUES (?, ?, ?, ?)"
        values = [entry["provider"], entry["operation"], entry.get("batch_id")]
        row_id = self._database.execute(sql, [*values, msgspec.json.encode({**entry, **times})]).lastrowid
        if row_id and row_id % TRIM_EVERY == 0:
            self._database.execute("DELETE FROM journal WHERE seq <= ?", [row_id - MAX_ENTRIES])

    def page(
        self, *, provider: str | None, operation: str | None, batch_id: str | None, after: int, limit: int
    ) -> list[tuple[int, bytes]]:
        """Entries as JSON with their numbers, oldest first. `after`: the number of the last one seen."""
        return self._database.execute(
            "SELECT seq, entry FROM journal WHERE seq > ? AND (? IS NULL OR provider = ?)"
            " AND (? IS NULL OR operation = ?) AND (? IS NULL OR batch_id = ?) ORDER BY seq LIMIT ?",
            [after, provider, provider, operation, operation, batch_id, batch_id, limit],
        ).fetchall()

    def clear(self) -> None:
        self._database.execute("DELETE FROM journal")


def _rfc3339(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
