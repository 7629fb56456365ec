"""Retry: a new job of what is not final in a finished one, and of what else is asked for by name."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import msgspec

from shared.domain.errors import NotFound
from shared.domain.ids import JobId, TenantId
from shared.domain.jobs import Job, JobStatus, Source, SourceKind
from shared.domain.outcomes import Outcome, is_final
from shared.ports.blobs import Blobs
from shared.ports.clock import Clock
from shared.ports.orchestrations import Orchestrations
from shared.services.door.accept_job import AcceptJob
from shared.services.jobs.job_spec import load_spec, save_spec
from shared.services.streams import MAX_LINE, Outlet, own_lines
from shared.stores.jobs import Jobs
from shared.wire.bodies import RetryBody
from shared.wire.door_shape import TOKEN_LIMITS
from shared.wire.jsonl import split
from shared.wire.paths import JobPaths
from shared.wire.problems import Clash, Unusable
from shared.wire.results import read_result


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryJob:
    jobs: Jobs
    blobs: Blobs
    accept: AcceptJob
    clock: Clock

    async def __call__(
        self, tenant: TenantId, job_id: str, body: RetryBody, new_id: JobId, orchestrations: Orchestrations
    ) -> Job:
        """The new job. Raise `NotFound`, `Clash` while the old one runs, `Unusable` if nothing is left."""
        if (existing := await self.jobs.find(tenant, new_id)) is not None:
            return await self.accept.start(existing.value, orchestrations)
        old = (await self.jobs.load(tenant, job_id)).value
        _check_may_retry(old)
        new = self._job(old, new_id)
        if not await self._copy_lines(old, new, body):
            raise Unusable(
                f"every request of job {old.id} has its final outcome; name outcomes in include to buy them"
                " again"
            )
        await self._copy_rest(old, new, body.params)
        return await self.accept.begin(new, orchestrations)

    def _job(self, old: Job, new_id: JobId) -> Job:
        now = self.clock.now()
        allowed = max(old.deadline_at - old.created_at, timedelta(0))
        return Job(
            id=new_id,
            tenant=old.tenant,
            status=JobStatus.ACCEPTED,
            created_at=now,
            deadline_at=now + allowed,
            alias=old.alias,
            endpoint=old.endpoint,
            deployment=old.deployment,
            provider=old.provider,
            model=old.model,
            run_id=old.run_id,
            source=Source(kind=_kind(old), path=JobPaths(old.tenant, new_id).source, checked=True),
            tags=old.tags,
            dedupe=old.dedupe,
            fresh=True,
            retry_of=old.id,
        )

    async def _copy_lines(self, old: Job, new: Job, body: RetryBody) -> int:
        """The chosen lines as they were posted, each with its custom id; how many."""
        count = 0
        source = split(self.blobs.read(old.source.path), max_line_bytes=MAX_LINE)
        chosen = self._chosen(old, body.include)
        async with Outlet(self.blobs, new.source.path) as outlet:
            async for lines in source:
                for _, content in lines:
                    custom_id = await anext(chosen)
                    if custom_id is not None and content is not None:
                        count += 1
                        await outlet.write(_line(content, custom_id, body.params))
        return count

    async def _chosen(self, old: Job, include: frozenset[Outcome]) -> AsyncIterator[str | None]:
        """For every input in order: its custom id if it is to be sent again."""
        async for handful in own_lines(self.blobs, JobPaths(old.tenant, old.id).results):
            for content in handful:
                result = read_result(content)
                again = result.outcome in include or not is_final(result.outcome, result.reason)
                yield result.custom_id if again else None

    async def _copy_rest(self, old: Job, new: Job, params: Mapping[str, object]) -> None:
        spec = await load_spec(self.blobs, old)
        kept = {k: v for k, v in spec.params.items() if not (_limits(params) and k in TOKEN_LIMITS)}
        await save_spec(self.blobs, new, msgspec.structs.replace(spec, params={**kept, **params}))
        references = JobPaths(old.tenant, old.id).references
        if (info := await self.blobs.head(references)) is not None:
            await self.blobs.copy(references, JobPaths(new.tenant, new.id).references, etag=info.etag)


def _check_may_retry(old: Job) -> None:
    if not old.is_finished:
        raise Clash(f"job {old.id} is {old.status.value}; retry it when it is finished", code="not_finished")
    if old.erased_at:
        raise NotFound(f"the content of job {old.id} was erased")
    if old.plan is None or not old.plan.rounds:
        raise Unusable(f"the input of job {old.id} was refused; mend it and post it as a new job")


def _kind(old: Job) -> SourceKind:
    """What is copied out of an upload is a list of requests of our own."""
    return SourceKind.REQUESTS if old.source.kind is SourceKind.UPLOAD else old.source.kind


def _limits(params: Mapping[str, object]) -> bool:
    return any(name in params for name in TOKEN_LIMITS)


def _line(content: bytes, custom_id: str, params: Mapping[str, object]) -> bytes:
    """The line under its id; parameters asked for now win over those it came with."""
    entry: dict[str, Any] = msgspec.json.decode(content)
    entry["custom_id"] = custom_id
    body = entry.get("body")
    if isinstance(body, dict):
        dropped = {*params, *(TOKEN_LIMITS if _limits(params) else ())}
        entry["body"] = {name: value for name, value in body.items() if name not in dropped}
    return msgspec.json.encode(entry) + b"\n"
