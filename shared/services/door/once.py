"""Idempotency-Key: the same call answers the same, and is done once, for seven days."""

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from shared.domain.errors import Conflict, GiveUp, NotFound, TryAgainLater
from shared.domain.ids import JobId, TenantId
from shared.ports.clock import Clock
from shared.stores.door import Replies, Reply
from shared.stores.stored import Stored
from shared.wire.problems import Clash

log = logging.getLogger(__name__)

KEPT: Final = timedelta(days=7)
# Renewed while a call is in flight: once it is over, nobody is at it any more.
HELD: Final = timedelta(seconds=15)
RENEWED_EVERY: Final = timedelta(seconds=4)

Act = Callable[[JobId], Awaitable[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Once:
    replies: Replies
    clock: Clock

    async def __call__(self, tenant: TenantId, key: str, body: bytes, job_id: JobId, act: Act) -> str:
        """What `act` answered the first time. `act` gets the job id that the first call was given.

        Raise `Clash` while the first call is in flight, and when the key was used with another body.
        A call that is refused leaves nothing behind: the key may be used again. After any other failure nobody
        knows what was written: the next call goes on under the same job id.
        """
        digest, body_digest = _digest(key.encode()), await asyncio.to_thread(_digest, body)
        held = await self._hold(tenant, digest, body_digest, job_id)
        if held.value.answer is not None:
            return held.value.answer
        hold = _Hold(self.replies, self.clock, held)
        try:
            async with hold:
                answer = await act(held.value.job_id)
        except (GiveUp, NotFound, Conflict):
            await self._forget(hold.held)
            raise
        except Exception:
            await self._let_go(hold.held)
            raise
        try:
            await self.replies.replace(hold.held, replace(hold.held.value, answer=answer))
        except Conflict as conflict:
            raise _in_progress() from conflict
        return answer

    async def _hold(self, tenant: TenantId, digest: str, body_digest: str, job_id: JobId) -> Stored[Reply]:
        now = self.clock.now()
        fresh = Reply(body_digest=body_digest, job_id=job_id, begun_at=now, held_until=now + HELD)
        found = await self.replies.find(tenant, digest)
        try:
            if found is None:
                return await self.replies.add(tenant, digest, fresh)
            if found.value.begun_at + KEPT <= now:
                return await self.replies.replace(found, fresh)
            return await self._again(found, fresh)
        except Conflict as conflict:
            if isinstance(conflict, Clash):
                raise
            raise _in_progress() from conflict

    async def _again(self, found: Stored[Reply], fresh: Reply) -> Stored[Reply]:
        earlier = found.value
        if earlier.body_digest != fresh.body_digest:
            raise Clash(
                "this Idempotency-Key was used with another body; use a new key for a new request",
                code="idempotency_key_reused",
            )
        if earlier.answer is not None:
            return found
        if earlier.held_until > self.clock.now():
            raise _in_progress()
        # The first call died half way. Its job id is kept, so that what it wrote is found again.
        return await self.replies.replace(found, replace(earlier, held_until=fresh.held_until))

    async def _forget(self, held: Stored[Reply]) -> None:
        try:
            await self.replies.forget(held)
        except Conflict:
            log.info("reply.taken_over")

    async def _let_go(self, held: Stored[Reply]) -> None:
        """The key stays with its job id; whoever comes next need not wait until we would have been done."""
        try:
            await self.replies.replace(held, replace(held.value, held_until=self.clock.now()))
        except (Conflict, TryAgainLater) as error:
            log.info("reply.still_held", extra={"why": str(error)})


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class _Hold:
    """Ours while the block runs, however long that takes. `held` is the newest version of it."""

    def __init__(self, replies: Replies, clock: Clock, held: Stored[Reply]) -> None:
        self.held = held
        self._replies = replies
        self._clock = clock
        self._over = asyncio.Event()
        self._renewing: asyncio.Task[None] | None = None

    async def __aenter__(self) -> None:
        self._renewing = asyncio.create_task(self._renew())

    async def __aexit__(self, *_: object) -> None:
        # Not cancelled: a renewal that is under way would leave us without the version it made.
        self._over.set()
        if self._renewing is not None:
            await self._renewing

    async def _renew(self) -> None:
        while not self._over.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(RENEWED_EVERY.total_seconds()):
                    await self._over.wait()
                    return
            try:
                longer = replace(self.held.value, held_until=self._clock.now() + HELD)
                self.held = await self._replies.replace(self.held, longer)
            except (Conflict, TryAgainLater) as error:
                log.warning("reply.not_renewed", extra={"why": type(error).__name__})


def _in_progress() -> Clash:
    return Clash(
        "a request with this Idempotency-Key is in progress; ask again in a moment", code="in_progress"
    )
