"""Rows in, rows out. Knows SQL and no rule of Service Bus; transactions are the caller's (`turn.py`).

SQLite is the only state: there is no copy in memory that could disagree with it after a crash.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from uuid import UUID

from local.servicebus.messages import Message, State, Stored

COLUMNS = (
    "queue, sequence, state, delivery_count, enqueued_at, expires_at, lock_token, locked_until, "
    "message_id, durable, priority, time_to_live, scheduled_for, annotations, bare"
)
VALUES = ", ".join("?" * 15)
READY = "queue = ? AND state = 0 AND lock_token IS NULL AND (expires_at IS NULL OR expires_at > ?)"
DUE_AT_ONCE = 500


def open_database(path: Path) -> sqlite3.Connection:
    """Takes the file for this process alone; `sqlite3.OperationalError` if another one has it.

    WAL with NORMAL survives the death of the process at any moment, though not that of the machine.
    """
    database = sqlite3.connect(path, isolation_level=None, timeout=0)
    try:
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.executescript(Path(__file__).with_name("schema.sql").read_text("utf-8"))
    except sqlite3.Error:
        database.close()
        raise
    return database


class Store:
    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def next_sequence(self, queue: str) -> int:
        """Numbers start at 1 and are never used twice, whatever becomes of the messages."""
        statement = (
            "INSERT INTO sequences VALUES (?, 1) "
            "ON CONFLICT (queue) DO UPDATE SET last = last + 1 RETURNING last"
        )
        return int(self._one(statement, queue)[0])

    def add(self, stored: Stored) -> None:
        self._run(f"INSERT INTO messages ({COLUMNS}) VALUES ({VALUES})", *_to_row(stored))

    def find(self, queue: str, sequence: int) -> Stored | None:
        return self._find(f"SELECT {COLUMNS} FROM messages WHERE queue = ? AND sequence = ?", queue, sequence)

    def find_locked(self, queue: str, token: UUID) -> Stored | None:
        statement = f"SELECT {COLUMNS} FROM messages WHERE lock_token = ? AND queue = ?"
        return self._find(statement, token.bytes, queue)

    def first_ready(self, queue: str, now: int) -> Stored | None:
        return self._find(
            f"SELECT {COLUMNS} FROM messages WHERE {READY} ORDER BY sequence LIMIT 1", queue, now
        )

    def from_sequence(self, queue: str, sequence: int, limit: int) -> Iterator[Stored]:
        """Reads as it is iterated: a long queue never is in memory as a whole."""
        statement = (
            f"SELECT {COLUMNS} FROM messages WHERE queue = ? AND sequence >= ? ORDER BY sequence LIMIT ?"
        )
        return map(_from_row, self._run(statement, queue, sequence, limit))

    def due(self, now: int) -> list[Stored]:
        """What should have happened by `now`, earliest first, a bounded number at a time."""
        statement = f"SELECT {COLUMNS} FROM messages WHERE due_at <= ? ORDER BY due_at LIMIT {DUE_AT_ONCE}"
        return [_from_row(row) for row in self._database.execute(statement, (now,))]

    def replace(self, old: Stored, new: Stored) -> None:
        """Also moves: `new` may name another queue or sequence."""
        self.remove(old)
        self.add(new)

    def set_lock(self, stored: Stored, token: UUID | None, until: int | None, delivery_count: int) -> None:
        self._run(
            "UPDATE messages SET lock_token = ?, locked_until = ?, delivery_count = ? "
            "WHERE queue = ? AND sequence = ?",
            None if token is None else token.bytes,
            until,
            delivery_count,
            stored.queue,
            stored.sequence,
        )

    def remove(self, stored: Stored) -> None:
        self._run("DELETE FROM messages WHERE queue = ? AND sequence = ?", stored.queue, stored.sequence)

    def see(self, queue: str, message_id: str, *, now: int, until: int) -> bool:
        """Remember the id until then; False if it is still remembered from before, which stays as it is."""
        statement = (
            "INSERT INTO seen VALUES (?, ?, ?) ON CONFLICT (queue, message_id) "
            "DO UPDATE SET until = excluded.until WHERE until <= ?"
        )
        return self._run(statement, queue, message_id, until, now).rowcount == 1

    def forget_seen(self, now: int) -> None:
        self._run("DELETE FROM seen WHERE until <= ?", now)

    def queues(self) -> set[str]:
        """Those that hold messages."""
        return {name for (name,) in self._database.execute("SELECT DISTINCT queue FROM messages")}

    def counts(self, queue: str, now: int) -> Sequence[tuple[int, int, int]]:
        """(state, messages, how many of them are locked) for each state that occurs."""
        statement = (
            "SELECT state, count(*), total(locked_until > ?) FROM messages WHERE queue = ? GROUP BY state"
        )
        return [
            (state, n, int(locked)) for state, n, locked in self._database.execute(statement, (now, queue))
        ]

    def _run(self, statement: str, *values: object) -> sqlite3.Cursor:
        return self._database.execute(statement, values)

    def _one(self, statement: str, *values: object) -> tuple[int, ...]:
        row: tuple[int, ...] = self._run(statement, *values).fetchone()
        return row

    def _find(self, statement: str, *values: object) -> Stored | None:
        row = self._run(statement, *values).fetchone()
        return None if row is None else _from_row(row)


def _to_row(stored: Stored) -> tuple[object, ...]:
    message = stored.message
    return (
        stored.queue,
        stored.sequence,
        int(stored.state),
        stored.delivery_count,
        stored.enqueued_at,
        stored.expires_at,
        None if stored.lock_token is None else stored.lock_token.bytes,
        stored.locked_until,
        message.message_id,
        message.durable,
        message.priority,
        message.time_to_live,
        message.scheduled_for,
        message.annotations,
        message.bare,
    )


def _from_row(row: tuple) -> Stored:
    queue, sequence, state, delivery_count, enqueued_at, expires_at, token, locked_until, *rest = row
    message_id, durable, priority, time_to_live, scheduled_for, annotations, bare = rest
    return Stored(
        queue=queue,
        sequence=sequence,
        state=State(state),
        delivery_count=delivery_count,
        enqueued_at=enqueued_at,
        expires_at=expires_at,
        lock_token=None if token is None else UUID(bytes=token),
        locked_until=locked_until,
        message=Message(
            message_id=message_id,
            durable=bool(durable),
            priority=priority,
            time_to_live=time_to_live,
            scheduled_for=scheduled_for,
            annotations=annotations,
            bare=bare,
        ),
    )
