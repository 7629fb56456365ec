"""How many calls a server bears, learnt from its answers. One for each deployment in a process."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Final

from shared.domain.pace import Concurrency
from shared.domain.waits import Backoff
from shared.ports.clock import Clock

# A server of one's own answers so many side by side at best.
CEILING: Final = 32
FAULTS: Final = Backoff(first=timedelta(seconds=1), longest=timedelta(minutes=1))


class Turnstile:
    """Whoever wants to call waits for `room`, and calls `enter` before and `leave` after the call.

    `refused` and `failed` narrow the way and shut it for a while, `answered` widens it.
    """

    def __init__(self, clock: Clock, *, ceiling: int = CEILING, faults: Backoff = FAULTS) -> None:
        self._clock = clock
        self._backoff = faults
        self._concurrency = Concurrency.below(ceiling)
        self._in_flight = 0
        self._faults = 0
        self._shut_until = 0.0
        self._stirred = asyncio.Event()

    @property
    def shut_for(self) -> timedelta:
        return timedelta(seconds=max(self._shut_until - _now(), 0))

    @property
    def is_open(self) -> bool:
        return not self.shut_for and self._in_flight < self._concurrency.allowed

    async def room(self, *, within: timedelta) -> bool:
        """Wait until something changes, at most so long. Whether there is room now."""
        if not self.is_open:
            self._stirred.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(min(within, self.shut_for or within).total_seconds()):
                    await self._stirred.wait()
        return self.is_open

    def enter(self) -> None:
        self._in_flight += 1

    def leave(self) -> None:
        self._in_flight -= 1
        self._stirred.set()

    def answered(self) -> None:
        self._faults = 0
        self._concurrency = self._concurrency.after_answer(self._in_flight)

    def refused(self, wait: timedelta) -> None:
        """The server asked for a pause."""
        self._concurrency = self._concurrency.after_refusal(self._clock.now())
        self._shut(wait)

    def failed(self) -> None:
        """No answer, or one that tells of the server's own trouble."""
        if not self.shut_for:
            # Calls that fail together are one trouble.
            self._faults += 1
        self._concurrency = self._concurrency.after_refusal(self._clock.now())
        self._shut(self._backoff.after(self._faults))

    def _shut(self, wait: timedelta) -> None:
        self._shut_until = max(self._shut_until, _now() + wait.total_seconds())


def _now() -> float:
    return asyncio.get_running_loop().time()
