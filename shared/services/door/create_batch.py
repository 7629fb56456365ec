"""Create a batch: a job like any other, made of a file that names its alias itself.

A client that lost our answer asks again and says so: then it gets the batch that was made, or is being made,
of the same wish. Without saying so it gets a new one,
unless it is the call that was asked again: held up on its way, it may come in last.
"""

import hashlib
import logging
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from shared.domain.catalog import Tenant
from shared.domain.errors import Conflict, TryAgainLater
from shared.domain.ids import AliasName, JobId
from shared.domain.jobs import Job, SourceKind
from shared.ports.clock import Clock
from shared.ports.orchestrations import Orchestrations
from shared.services.door.accept_job import AcceptJob
from shared.services.door.take_file import TakeFile
from shared.stores.door import Replies, Reply
from shared.stores.jobs import Jobs, batch_id
from shared.wire.batch_calls import BatchCall
from shared.wire.bodies import BatchInput, JobBody

log = logging.getLogger(__name__)

# The official clients wait ten minutes for an answer and try three times. What is older is another wish.
REMEMBERED: Final = timedelta(minutes=35)
TRIES: Final = 3
# A call that its client has given up ends after 230 s at the latest, wherever it was held up.
UNDER_WAY: Final = timedelta(minutes=4)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateBatch:
    jobs: Jobs
    accept: AcceptJob
    take_file: TakeFile
    replies: Replies
    clock: Clock

    async def __call__(
        self, tenant: Tenant, call: BatchCall, orchestrations: Orchestrations, *, again: bool
    ) -> Job:
        """The accepted job. `again`: the client has asked before and got no answer. Raise `Invalid`."""
        new_id = await self._id(tenant, call, again=again)
        if (made := await self.jobs.find(tenant.id, new_id)) is not None:
            return await self.accept.start(made.value, orchestrations)
        alias = await self.take_file.alias(tenant.id, call.input_file)
        body = JobBody(
            alias=alias or AliasName(""),
            kind=SourceKind.UPLOAD,
            tags=call.metadata,
            endpoint=call.endpoint,
            dedupe=False,
            batch=BatchInput(file=call.input_file, output_seconds=call.output_seconds),
        )
        return await self.accept(tenant, body, 0, new_id, orchestrations)

    async def _id(self, tenant: Tenant, call: BatchCall, *, again: bool) -> JobId:
        """Noted before anything is made under it."""
        wish = hashlib.sha256(b"batch\n" + call.raw).hexdigest()
        for _ in range(TRIES):
            now = self.clock.now()
            found = await self.replies.find(tenant.id, wish)
            if found is not None and _is_same(found.value, now, again=again):
                log.info("batch.asked_again", extra={"job_id": found.value.job_id, "tenant": tenant.id})
                return found.value.job_id
            reply = _reply(wish, now, UNDER_WAY if again else timedelta(0))
            try:
                if found is None:
                    await self.replies.add(tenant.id, wish, reply)
                else:
                    await self.replies.replace(found, reply)
            except Conflict:
                continue  # somebody else makes one at this moment
            return reply.job_id
        raise TryAgainLater("several calls ask for the same batch at once")


def _is_same(made: Reply, now: datetime, *, again: bool) -> bool:
    """Whether this call wants the batch that has been made."""
    return now < (made.begun_at + REMEMBERED if again else made.held_until)


def _reply(wish: str, now: datetime, held: timedelta) -> Reply:
    """`held`: for so long the first call may come in after the one that repeated it."""
    new_id = batch_id(int(now.timestamp() * 1000), uuid.uuid4().hex[:16])
    return Reply(body_digest=wish, job_id=new_id, begun_at=now, held_until=now + held)
