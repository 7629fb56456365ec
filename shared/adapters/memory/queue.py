"""A queue in memory: duplicate detection, schedules, peek-lock and dead letters as the service has them."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count

from shared.adapters.limits import check_message
from shared.domain.errors import TryAgainLater
from shared.ports.clock import Clock
from shared.ports.queue import DeadLetter, Message

LOCK = timedelta(minutes=5)
WINDOW = timedelta(hours=1)
DELIVERIES = 5
TOO_MANY = "MaxDeliveryCountExceeded"


class LockLost(Exception):
    """The delivery was settled before, or its lock has run out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A message under a lock. `number` counts the deliveries of it, from 1."""

    message: Message
    number: int
    locked_until: datetime
    sequence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    message: Message
    sent_at: datetime
    due_at: datetime
    failures: int = 0
    lock: datetime | None = None


class MemoryQueue:
    """Lives as long as the object: hand the same one to the next app to survive a restart.

    `sent` holds every message taken, dropped repeats left out; `dead` what nobody could complete.
    """

    def __init__(self, clock: Clock, *, lock: timedelta = LOCK, window: timedelta = WINDOW) -> None:
        self.sent: list[Message] = []
        self.dead: list[Message] = []
        self._clock = clock
        self._lock = lock
        self._window = window
        self._held: dict[int, _Held] = {}
        self._known: dict[str, datetime] = {}
        self._sequence = count(1)
        self._refusals = 0
        self._letters: list[DeadLetter] = []

    def refuse(self, times: int) -> None:
        """Make the next `times` sends fail."""
        self._refusals = times

    async def send(self, message: Message, *, delay: timedelta | None = None) -> None:
        check_message(message)
        await asyncio.sleep(0)
        if self._refusals:
            self._refusals -= 1
            raise TryAgainLater(f"message {message.id!r} was not taken")
        now = self._clock.now()
        known = self._known.get(message.id)
        if known is not None and now - known < self._window:
            return
        self._known[message.id] = now
        self.sent.append(message)
        due = now + max(delay or timedelta(0), timedelta(0))
        self._held[next(self._sequence)] = _Held(message=message, sent_at=now, due_at=due)

    async def is_empty(self) -> bool:
        await asyncio.sleep(0)
        return not self._held

    def lose_everything(self) -> None:
        """As a namespace that was deleted and made anew."""
        self._held.clear()
        self._known.clear()

    async def dead_letters(self, *, start: int = 0, limit: int = 100) -> Sequence[DeadLetter]:
        await asyncio.sleep(0)
        found = sorted((each for each in self._letters if each.sequence >= start), key=lambda e: e.sequence)
        return found[:limit]

    def receive(self) -> Delivery | None:
        """The message that is due, not locked, and has been there longest, locked from now on.

        One that was scheduled is there since its time came.
        """
        now = self._clock.now()
        for sequence, found in [item for item in self._held.items() if _has_run_out(item[1].lock, now)]:
            self._fail(sequence, found)
        free = (
            (held.due_at, sequence)
            for sequence, held in self._held.items()
            if held.lock is None and held.due_at <= now
        )
        first = min(free, default=None)
        if first is None:
            return None
        _, sequence = first
        held = self._held[sequence]
        self._held[sequence] = replace(held, lock=now + self._lock)
        return Delivery(
            message=held.message,
            number=held.failures + 1,
            locked_until=now + self._lock,
            sequence=sequence,
        )

    def complete(self, delivery: Delivery) -> None:
        """Raise `LockLost`."""
        self._locked(delivery)
        del self._held[delivery.sequence]

    def abandon(self, delivery: Delivery) -> None:
        """Raise `LockLost`."""
        self._fail(delivery.sequence, self._locked(delivery))

    def bury(self, delivery: Delivery, reason: str, description: str = "") -> None:
        """Give it up at once. Raise `LockLost`."""
        self._locked(delivery)
        self._bury(delivery.sequence, reason, description)

    def waiting(self) -> int:
        """Messages that are not settled, scheduled ones included."""
        return len(self._held)

    def next_due(self) -> datetime | None:
        """When `receive` will have something, if nothing else happens. None: never."""
        return min((held.lock or held.due_at for held in self._held.values()), default=None)

    def _locked(self, delivery: Delivery) -> _Held:
        held = self._held.get(delivery.sequence)
        if held is None or held.lock != delivery.locked_until or held.lock <= self._clock.now():
            raise LockLost(delivery.message.id)
        return held

    def _fail(self, sequence: int, held: _Held) -> _Held | None:
        """Count a delivery that came to nothing. None: it was the last one."""
        if held.failures + 1 >= DELIVERIES:
            self._bury(
                sequence, TOO_MANY, f"the message was delivered {DELIVERIES} times and never completed"
            )
            return None
        again = self._held[sequence] = replace(held, failures=held.failures + 1, lock=None)
        return again

    def _bury(self, sequence: int, reason: str, description: str) -> None:
        held = self._held.pop(sequence)
        self.dead.append(held.message)
        self._letters.append(
            DeadLetter(
                sequence=sequence,
                body=held.message.body,
                sent_at=held.sent_at,
                reason=reason,
                description=description,
            )
        )


def _has_run_out(lock: datetime | None, now: datetime) -> bool:
    return lock is not None and lock <= now
