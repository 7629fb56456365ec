"""The simulator's time: the machine's, plus what tests have added to it."""

import time

from local.simulator.database import Database

OFFSET = "clock.offset_seconds"


class Clock:
    """Unix seconds. Moves forward only; the offset survives a restart."""

    def __init__(self, database: Database) -> None:
        self._database = database
        row = database.execute("SELECT value FROM settings WHERE name = ?", [OFFSET]).fetchone()
        self._offset = float(row[0]) if row else 0.0

    @property
    def offset(self) -> float:
        return self._offset

    def now(self) -> float:
        return time.time() + self._offset

    def advance(self, seconds: float) -> None:
        self._offset += seconds
        self._database.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", [OFFSET, repr(self._offset)])
