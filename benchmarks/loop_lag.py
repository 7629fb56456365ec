"""How long the event loop keeps others waiting."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

_NAP: Final = 0.002


@dataclass(slots=True)
class Lags:
    """Seconds by which a short nap was late, one entry a nap."""

    seconds: list[float] = field(default_factory=list)

    @property
    def most(self) -> float:
        return max(self.seconds, default=0.0)

    def beyond(self, limit: float) -> int:
        return sum(lag > limit for lag in self.seconds)


@asynccontextmanager
async def loop_lags() -> AsyncIterator[Lags]:
    lags = Lags()

    async def nap() -> None:
        while True:
            begun = time.perf_counter()
            await asyncio.sleep(_NAP)
            lags.seconds.append(time.perf_counter() - begun - _NAP)

    napping = asyncio.create_task(nap())
    try:
        yield lags
    finally:
        napping.cancel()


def percentile(values: list[float], share: float) -> float:
    """The value that `share` (0 to 1) of all values do not exceed."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)] if ordered else 0.0
