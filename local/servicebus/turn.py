"""One turn of the event loop is one SQLite transaction: whatever a client is told, it is told after COMMIT.

Committing once a turn, and not once an operation, is what makes thousands of messages a second affordable.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager

type Action = Callable[[], None]


class Turn:
    """`schedule` runs an action later in the same thread, once what is under way has returned."""

    def __init__(self, database: sqlite3.Connection, schedule: Callable[[Action], object]) -> None:
        self._database = database
        self._schedule = schedule
        self._scheduled = False
        self._before: list[Action] = []
        self._after: list[Action] = []

    @contextmanager
    def operation(self) -> Iterator[None]:
        """All of the changes inside, or on an exception none of them."""
        self._begin()
        self._database.execute("SAVEPOINT operation")
        try:
            yield
        except BaseException:
            self._database.execute("ROLLBACK TO operation")
            raise
        finally:
            self._database.execute("RELEASE operation")

    def before_commit(self, action: Action) -> None:
        """Run `action` at the end of this turn; its changes are part of the same transaction."""
        self._before.append(action)
        self._wake()

    def after_commit(self, action: Action) -> None:
        """Run `action` once everything done so far is on disk; actions keep their order."""
        self._after.append(action)
        self._wake()

    def finish(self) -> None:
        """`sqlite3.Error` means that nothing of this turn was kept and nobody was told that it was."""
        self._scheduled = False
        while self._before:
            self._before.pop(0)()
        if self._database.in_transaction:
            self._database.execute("COMMIT")
        after, self._after = self._after, []
        for action in after:
            action()

    def _begin(self) -> None:
        if not self._database.in_transaction:
            self._database.execute("BEGIN IMMEDIATE")
            self._wake()

    def _wake(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            self._schedule(self.finish)
