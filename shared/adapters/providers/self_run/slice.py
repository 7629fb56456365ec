"""One slice of work on a batch that we run ourselves, by whoever holds its lease.

Nothing is asked again that has a row. After a crash the calls that were in flight are asked again, and no more:
a lease that has run out, or that somebody else holds, lets no further call begin.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, Protocol

import httpx2
import msgspec
from msgspec import Struct, structs

from shared.adapters.providers.openai.model import line_of
from shared.adapters.providers.self_run.pace import Turnstile
from shared.adapters.providers.self_run.rows import Rows
from shared.adapters.providers.self_run.state import States, StoredState
from shared.domain.catalog import Endpoint
from shared.domain.errors import Conflict, NotAdmitted, PosternError, RateLimited, TryAgainLater
from shared.ports.blobs import Blobs
from shared.ports.clock import Clock
from shared.wire.jsonl import split

# A request at which the server has failed so often is left to a further round.
MOST_FAULTS: Final = 5
# How often a waiting slice looks whether it should go on.
_LOOK: Final = timedelta(seconds=5)


class Asked(Struct):
    """A line of the input: a request as it is asked."""

    custom_id: str
    body: dict[str, object]


_read: Final = msgspec.json.Decoder(Asked).decode


class Ask(Protocol):
    async def __call__(self, endpoint: Endpoint, body: dict[str, object]) -> httpx2.Response:
        """As `OpenAIModel.answer`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """`slice`: how long it begins calls. A lease lasts `lease` and is renewed every `renew`.

    `max_line_bytes` is the longest line of the input.
    """

    max_line_bytes: int
    slice: timedelta = timedelta(seconds=30)
    lease: timedelta = timedelta(seconds=20)
    renew: timedelta = timedelta(seconds=5)


@dataclass(slots=True, kw_only=True)
class Slice:
    """`held` is the state under our lease; afterwards it is the latest that we know of."""

    held: StoredState
    holder: str
    blobs: Blobs
    states: States
    rows: Rows
    ask: Ask
    turnstile: Turnstile
    clock: Clock
    terms: Terms
    faults: dict[int, int] = field(default_factory=dict)
    _again: deque[tuple[int, bytes]] = field(default_factory=deque)
    _all_read: bool = False
    _lost: bool = False

    async def work(self) -> None:
        """Raise `NotAdmitted` when the server refuses us, `TryAgainLater` when our storage fails."""
        self.faults.update(self.held.state.faults)
        await self.rows.look()
        keeping = asyncio.create_task(self._keep_lease())
        calls: set[asyncio.Task[None]] = set()
        try:
            await self._begin_calls(calls)
            while calls:
                await self._reap(calls, await_one=True)
        except PosternError:
            # What is under way is paid for: its answers are kept.
            await asyncio.gather(*calls, return_exceptions=True)
            raise
        finally:
            keeping.cancel()
            for call in calls:
                call.cancel()
            await asyncio.gather(keeping, *calls, return_exceptions=True)

    async def _begin_calls(self, calls: set[asyncio.Task[None]]) -> None:
        ends_at = asyncio.get_running_loop().time() + self.terms.slice.total_seconds()
        async with aclosing(self._unanswered()) as unread:
            await self._begin_until(ends_at, unread, calls)

    async def _begin_until(
        self, ends_at: float, unread: AsyncIterator[tuple[int, bytes]], calls: set[asyncio.Task[None]]
    ) -> None:
        while (left := ends_at - asyncio.get_running_loop().time()) > 0 and self._may_go_on():
            await self._reap(calls)
            if self.turnstile.shut_for.total_seconds() > left and not calls:
                return  # nobody may call before the slice is over
            if not await self.turnstile.room(within=min(_LOOK, timedelta(seconds=left))):
                continue
            following = await self._next(unread)
            if not self._may_go_on():
                return  # what was awaited may have taken longer than the lease
            if following is not None:
                calls.add(self._begin(*following))
            elif not calls:
                return
            else:
                await self._reap(calls, await_one=True)

    async def _next(self, unread: AsyncIterator[tuple[int, bytes]]) -> tuple[int, bytes] | None:
        if not self._all_read and (found := await anext(unread, None)) is not None:
            return found
        self._all_read = True
        return self._again.popleft() if self._again else None

    async def _unanswered(self) -> AsyncGenerator[tuple[int, bytes]]:
        """Place and line of every request without a row."""
        place = 0
        pieces = self.blobs.read(self.held.state.path)
        async for lines in split(pieces, max_line_bytes=self.terms.max_line_bytes):
            for _, line in lines:
                if line is not None and place not in self.rows.done:
                    yield place, line
                place += 1

    async def _reap(self, calls: set[asyncio.Task[None]], *, await_one: bool = False) -> None:
        if calls and await_one:
            await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        for call in [call for call in calls if call.done()]:
            calls.discard(call)
            call.result()

    def _begin(self, place: int, line: bytes) -> asyncio.Task[None]:
        """Its room is taken now, not when the task has its first turn."""
        self.turnstile.enter()
        call = asyncio.create_task(self._call(place, line))
        call.add_done_callback(lambda _: self.turnstile.leave())
        return call

    async def _call(self, place: int, line: bytes) -> None:
        asked = _read(line)
        try:
            answer = await self.ask(Endpoint(self.held.state.endpoint), asked.body)
        except RateLimited as limited:
            self.turnstile.refused(limited.retry_after)
            self._again.append((place, line))
            return
        except NotAdmitted:
            raise
        except TryAgainLater:
            self.turnstile.failed()
            await self._failed(place, line, asked.custom_id)
            return
        self.turnstile.answered()
        await self.rows.add(place, line_of(asked.custom_id, answer), answered=answer.is_success)

    async def _failed(self, place: int, line: bytes, key: str) -> None:
        self.faults[place] = self.faults.get(place, 0) + 1
        if self.faults[place] < MOST_FAULTS:
            self._again.append((place, line))
            return
        message = f"the server failed at this request {MOST_FAULTS} times"
        error = {"error": {"code": "server_error", "message": message}}
        row = {"custom_id": key, "response": {"status_code": 503, "body": error}}
        await self.rows.add(place, msgspec.json.encode(row), answered=False)

    # The lease

    def _may_go_on(self) -> bool:
        state = self.held.state
        return not self._lost and not state.cancelled and state.is_held(self.clock.now())

    async def _keep_lease(self) -> None:
        while not self._lost:
            await asyncio.sleep(self.terms.renew.total_seconds())
            with suppress(TryAgainLater):
                await self.note(held_until=self.clock.now() + self.terms.lease)

    async def note(self, **changes: object) -> None:
        """Write figures and `changes`, unless somebody else holds the batch by now."""
        while not self._lost:
            answered = sum(self.rows.done.values())
            state = structs.replace(
                self.held.state,
                completed=answered,
                failed=len(self.rows.done) - answered,
                faults={place: n for place, n in self.faults.items() if place not in self.rows.done},
                **changes,
            )
            try:
                self.held = await self.states.replace(self.held, state)
            except Conflict:
                await self._look_again()
            else:
                return

    async def _look_again(self) -> None:
        """Somebody wrote: it was cancelled, or the lease had run out and is another's."""
        found = await self.states.load(self.rows.key)
        self._lost = found.state.holder != self.holder
        self.held = found
