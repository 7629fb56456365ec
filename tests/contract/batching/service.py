"""A batch provider, and a hand on the service behind it: what the suite is given of every provider."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from shared.adapters.memory.provider import Course
from shared.adapters.memory.provider_rows import Fate
from shared.domain.ids import BatchId, FileId
from shared.ports.providers import BatchProvider, ChunkInput
from tests.local.simulator.process import Simulator


@dataclass(frozen=True, kw_only=True)
class Ways:
    """What differs between services, as far as the suite must know.

    `keeps_input`: the input is a file of its own before the batch is created. `can_fail`, `can_expire`: a
    batch may end so as a whole. `codes_failures`: one that fails says why by a code, not in prose alone.
    `has_side_door`: others can create batches on the same account. `never`: fates
    that cannot befall a request there. `repeats_creates`: a second create of a chunk makes a second batch.
    `is_elsewhere`: batches are somebody else's objects, with states and lists of theirs.
    """

    keeps_input: bool = True
    can_fail: bool = True
    can_expire: bool = True
    codes_failures: bool = True
    has_side_door: bool = True
    repeats_creates: bool = True
    is_elsewhere: bool = True
    never: frozenset[Fate] = frozenset()


async def not_needed(chunk: ChunkInput) -> None:
    """The lines come with the chunk."""


@dataclass(frozen=True, kw_only=True)
class Service:
    """No batch ends by itself: `finish` lets one run to its end and waits for that.

    `store` puts the chunk's lines where the planner leaves them, for providers that look there.
    `under_way` waits until so many of its requests are answered, as `course` has it.
    `start` is the service's time before the first call. `spoil` is what becomes of every request that holds
    the text, `answer` what is answered to it, `course` how the next batch goes. `side_door` creates a batch of
    the staged chunk that carries no key of ours. `strange` puts a batch into a state that nobody knows.
    The next create: `lose_create` has its effect and no answer, `hide` leaves the batch out of lists for so
    long, `absent` lets `retrieve` answer 404 for so long. `lock_out` refuses the next call for our credentials.
    """

    provider: BatchProvider
    start: datetime
    ways: Ways = field(default_factory=Ways)
    finish: Callable[[BatchId], Awaitable[None]]
    under_way: Callable[[BatchId, int], Awaitable[None]]
    pass_time: Callable[[timedelta], None]
    spoil: Callable[[str, Fate], None]
    answer: Callable[[str, str], None]
    course: Callable[[Course], None]
    side_door: Callable[[ChunkInput, FileId], Awaitable[BatchId]]
    strange: Callable[[BatchId], Awaitable[object]]
    lose_create: Callable[[], None]
    hide: Callable[[timedelta], None]
    absent: Callable[[timedelta], None]
    lock_out: Callable[[], None]
    store: Callable[[ChunkInput], Awaitable[None]] = not_needed


type Make = Callable[[Simulator], AbstractAsyncContextManager[Service]]
