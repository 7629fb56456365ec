"""Idempotency-Key: the same call answers the same, and is done once, for seven days."""

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable
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
# An answer must begin within 230 s in front of a Functions app: after this, nobody is at it any more.
HELD: Final = timedelta(minutes=5)

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
        try:
            answer = await act(held.value.job_id)
        except (GiveUp, NotFound, Conflict):
            await self._forget(held)
            raise
        except Exception:
            await self._let_go(held)
            raise
        await self.replies.replace(held, replace(held.value, answer=answer))
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


def _in_progress() -> Clash:
    return Clash(
        "a request with this Idempotency-Key is in progress; ask again in a moment", code="in_progress"
    )
